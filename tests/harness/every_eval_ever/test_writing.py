"""Our estimates in the schema of Every Eval Ever."""

import json
from pathlib import Path

import pytest

from benchcore.harness.every_eval_ever import EVERY_EVAL_EVER
from benchcore.harness.every_eval_ever.writing import aggregate
from benchcore.scoring.target_estimate import TargetEstimate


def estimate(target: str, value: float | None, model: str = "lab/gull") -> TargetEstimate:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return TargetEstimate(model, target, 40, 2, 31.5, 0.1, value, low, high, "model", "weighted", "n_eff 3 is below 10")


def written(*estimates: TargetEstimate) -> dict[str, object]:
    about = {"coreset_id": "c0ffee", "metric": "exact_match", "retrieved": 1760000000.4, "library_version": "0.1.0"}
    return aggregate("lab/gull", estimates, **about)  # type: ignore[arg-type]


def test_each_target_is_a_result_and_what_is_not_estimable_is_named(tmp_path: Path):
    """What is written is read back as an aggregate with the same figures."""
    document = written(estimate("suite", 0.5), estimate("benchmark:tides", 0.25), estimate("benchmark:moons", None))
    (tmp_path / "estimates.json").write_text(json.dumps(document))
    assert EVERY_EVAL_EVER.aggregates is not None
    matrix = EVERY_EVAL_EVER.aggregates(tmp_path)

    assert matrix is not None
    assert dict(zip(matrix.tasks, matrix.scores[0].tolist(), strict=True)) == {"suite": 0.5, "benchmark:tides": 0.25}
    assert "benchmark:moons: n_eff 3 is below 10" in json.dumps(document)


def test_estimates_of_another_model_are_refused():
    """One document is of one model."""
    with pytest.raises(ValueError, match="lab/tern"):
        written(estimate("suite", 0.5), estimate("suite", 0.5, model="lab/tern"))


def test_it_is_valid_by_the_schema(shared_data: Path):
    """The schema's own validator finds nothing to say."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((shared_data / "harness_logs" / "every_eval_ever" / "eval.schema.json").read_text())

    jsonschema.validate(written(estimate("suite", 0.5), estimate("benchmark:moons", None)), schema)
