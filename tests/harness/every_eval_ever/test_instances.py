"""Files of Every Eval Ever: instances as results, aggregates as a leaderboard, nothing lost in silence."""

import gzip
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import UsageError
from benchcore.harness.documents import Result, Scale
from benchcore.harness.every_eval_ever import EVERY_EVAL_EVER
from benchcore.harness.importing import import_logs
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.notes import Notes
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin
from benchcore.registry.tables import read as table
from tests.registry.stored import prompt, store

UUID = "0b1f7a52-3c9d-4e8a-9b7e-5d2f4c6a8e10"


def read_table(registry: Registry, name: str) -> list[dict[str, Any]]:
    return table(registry, name).to_pylist()


def instance(number: int, score: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.2.2",
        "evaluation_id": "tides/lab_gull/1760000000",
        "model_id": "lab/gull",
        "evaluation_name": "tides",
        "evaluation_result_id": "tides#accuracy",
        "sample_id": f"tide-{number}",
        "interaction_type": "single_turn",
        "input": {"raw": f"When is high water at buoy {number}?", "reference": [f"at {number}"], "choices": None},
        "output": {"raw": ["at noon"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1.0},
    } | more


def aggregate(metric: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    config = {"metric_id": "accuracy", "lower_is_better": False, "min_score": 0, "max_score": 1} | (metric or {})
    return {
        "schema_version": "0.2.2",
        "evaluation_id": "tides/lab_gull/1760000000",
        "retrieved_timestamp": "1760000000",
        "model_info": {"name": "gull", "id": "lab/gull"},
        "eval_library": {"name": "buoys", "version": "7"},
        "evaluation_results": [
            {
                "evaluation_result_id": "tides#accuracy",
                "evaluation_name": "tides",
                "source_data": {"dataset_name": "tides"},
                "metric_config": config,
                "score_details": {"score": 0.5},
            }
        ],
    } | more


def written(folder: Path, lines: list[Any], about: dict[str, Any] | None, name: str = f"{UUID}_samples.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    if about is not None:
        (folder / f"{UUID}.json").write_text(json.dumps(about))
    return folder


def read(path: Path) -> tuple[list[Result], Notes]:
    notes = Notes()
    assert EVERY_EVAL_EVER.results is not None
    return list(EVERY_EVAL_EVER.results(path, notes)), notes


@pytest.mark.parametrize("name", [f"{UUID}_samples.jsonl", f"{UUID}.jsonl"])
def test_instances_are_results_with_what_their_json_says_of_them(tmp_path: Path, name: str):
    """Model, run, metric and scale come from both files, whichever way the file of instances is named."""
    folder = written(tmp_path / "data", [instance(1), instance(2, 0.0)], aggregate({"max_score": 10}), name)

    results, notes = read(folder)

    assert [result.metrics["accuracy"] for result in results] == [1.0, 0.0]
    assert {("lab/gull", "tides/lab_gull/1760000000", 1)} == {(one.model, one.run, one.epoch) for one in results}
    assert {"accuracy": Scale(0, 10)} == results[0].scales
    assert (
        results[0].document.task,
        results[0].document.document_id,
        results[0].document.request,
        results[0].document.answer,
        results[0].document.version,
    ) == ("tides", "tide-1", "When is high water at buoy 1?", "at 1", "7")
    assert notes.counts == {}


def test_a_document_is_known_by_its_content_or_its_hash_wherever_it_stands(tmp_path: Path):
    """Other order and other ids change no hash; other content does; a hash that the file gives is taken."""
    first, _ = read(written(tmp_path / "a", [instance(1), instance(2)], aggregate()))
    other = [instance(2, sample_id="x"), instance(1, sample_id="y", evaluation_id="again")]
    again, _ = read(written(tmp_path / "b", [*other, instance(3, sample_hash="given")], aggregate()))
    hashes = [result.document.document_hash for result in [*first, *again]]

    assert [hashes[0], hashes[1], hashes[1], hashes[0], "given"] == hashes
    assert hashes[0] != hashes[1]


def test_lines_that_are_no_instances_are_counted_and_the_rest_is_read(tmp_path: Path):
    """Broken JSON, lists and lines without a model or a score object do not stop the reading."""
    folder = written(tmp_path, [instance(1), [1], instance(2, model_id=""), instance(3, evaluation=7)], aggregate())
    with (folder / f"{UUID}_samples.jsonl").open("a") as stream:
        stream.write('{"cut": \n' + json.dumps(instance(4)) + "\n")

    results, notes = read(folder)

    assert [result.document.document_id for result in results] == ["tide-1", "tide-4"]
    assert notes.counts == {"unreadable": 4}
    assert any("row 3: lacks model_id" in example for example in notes.examples["unreadable"])


def test_several_metrics_and_interactions_keep_their_names(tmp_path: Path):
    """Each line's metric is the one that its result id names; conversations and agents are read as well."""
    about = aggregate()
    second = json.loads(json.dumps(about["evaluation_results"][0]))
    second |= {"evaluation_result_id": "tides#f1"}
    second["metric_config"]["metric_id"] = "f1"
    about["evaluation_results"].append(second)
    lines = [
        instance(1),
        instance(1, 0.25, evaluation_result_id="tides#f1", interaction_type="agentic", output=None, messages=[]),
        instance(1, 0.5, evaluation_result_id=None),
    ]

    results, _ = read(written(tmp_path, lines, about))

    assert [dict(result.metrics) for result in results] == [{"accuracy": 1.0}, {"f1": 0.25}, {"score": 0.5}]


@pytest.mark.parametrize(
    ("metric", "score", "kept"),
    [
        ({"has_unknown_level": True}, -1, None),
        ({}, None, True),
        ({}, float("nan"), True),
        ({}, [1], None),
    ],
)
def test_scores_that_mean_nothing_are_missing(tmp_path: Path, metric: dict[str, Any], score: Any, kept: Any):
    """An unknown level is missing; without a score the verdict counts."""
    evaluation = {"score": score, "is_correct": True}

    results, _ = read(written(tmp_path, [instance(1, evaluation=evaluation)], aggregate(metric)))

    assert [kept] == list(results[0].metrics.values())


def test_what_is_not_as_declared_is_said(tmp_path: Path):
    """A checksum or a number of rows that differs, an unknown version and a missing JSON are noted."""
    declared = {"detailed_evaluation_results": {"checksum": "00", "hash_algorithm": "sha256", "total_rows": 5}}
    _, notes = read(written(tmp_path / "a", [instance(1, schema_version="9.1")], aggregate(**declared)))
    _, bare = read(written(tmp_path / "b", [instance(1)], None))

    assert {
        "checksum differs: the file is not the one that its JSON describes",
        "another number of rows than the JSON says",
        "schema version 9.1 is not known: read as far as it is understood",
    } == set(notes.counts)
    assert {"instances without the JSON that names their metrics and scales"} == set(bare.counts)


def test_a_right_checksum_is_not_mentioned(tmp_path: Path):
    """The declared checksum is of the file's bytes."""
    folder = written(tmp_path, [instance(1)], None)
    found = hashlib.md5((folder / f"{UUID}_samples.jsonl").read_bytes()).hexdigest()
    declared = {"detailed_evaluation_results": {"checksum": found, "hash_algorithm": "md5", "total_rows": 1}}

    _, notes = read(written(folder, [instance(1)], aggregate(**declared)))

    assert notes.counts == {}


def test_compressed_instances_are_read_and_an_aggregate_finds_them(tmp_path: Path):
    """The JSON's path is as good as that of the instances, which may be packed."""
    folder = written(tmp_path, [instance(1)], aggregate())
    plain = folder / f"{UUID}_samples.jsonl"
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()

    assert read(folder)[0] == read(folder / f"{UUID}.json")[0] != []


def test_aggregates_alone_are_a_leaderboard(tmp_path: Path):
    """No result, but no error either: the scores of whole tasks go where leaderboards are kept."""
    (tmp_path / f"{UUID}.json").write_text(json.dumps(aggregate()))

    results, notes = read(tmp_path)
    assert EVERY_EVAL_EVER.aggregates is not None
    matrix = EVERY_EVAL_EVER.aggregates(tmp_path)

    assert results == []
    assert notes.counts == {"aggregates without instances": 1}
    assert matrix is not None
    assert (matrix.models, matrix.tasks, matrix.scores.tolist()) == (("lab/gull",), ("tides",), [[0.5]])


def test_an_import_stores_both_kinds_and_again_neither(tmp_path: Path):
    """Instances become scores, aggregates a leaderboard of the folder's name; the second import changes nothing."""
    row = prompt("tides", 1, prompt="When is high water at buoy 1?", answer="at 1")
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", [row])
    folder = written(tmp_path / "log", [instance(1, 0.5)], aggregate())

    first = import_logs(registry, "every-eval-ever", EVERY_EVAL_EVER, [folder], ImportOptions())
    versions = pin(registry, ("scores", "leaderboards", "bindings"))
    import_logs(registry, "every-eval-ever", EVERY_EVAL_EVER, [folder], ImportOptions())

    assert [(row["prompt_id"], 0.5)] == [(one["prompt_id"], one["score"]) for one in read_table(registry, "scores")]
    assert [
        (one["leaderboard"], one["model"], one["task"], one["score"]) for one in read_table(registry, "leaderboards")
    ] == [("log", "lab/gull", "tides", 0.5)]
    assert first.leaderboards == {"log": 1}
    assert versions == pin(registry, ("scores", "leaderboards", "bindings"))


def test_scales_that_cannot_be_told_stop_aggregates_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Beside instances it is a warning; without them, an error that names the command that takes declarations."""
    about = aggregate({"min_score": None, "max_score": None, "lower_is_better": True})
    assert EVERY_EVAL_EVER.aggregates is not None

    assert EVERY_EVAL_EVER.aggregates(written(tmp_path / "a", [instance(1)], about)) is None
    assert "were not stored" in caplog.text
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / f"{UUID}.json").write_text(json.dumps(about))
    with pytest.raises(UsageError, match="leaderboard store"):
        EVERY_EVAL_EVER.aggregates(tmp_path / "b")


def test_what_is_nothing_of_the_schema_is_refused(tmp_path: Path):
    """A folder of other JSON is an error that names the files that are looked for."""
    (tmp_path / "other.json").write_text("{}")

    with pytest.raises(UsageError, match="_samples"):
        read(tmp_path)


def test_a_direction_without_a_range_needs_a_declared_scale(tmp_path: Path):
    """Lower is better, but from where to where is not said: the scale is endless, so that nothing is taken as it is."""
    metric = {"lower_is_better": True, "min_score": None, "max_score": None}

    results, _ = read(written(tmp_path, [instance(1, 0.2)], aggregate(metric)))

    assert {"accuracy": Scale(0.0, math.inf, True)} == results[0].scales


def test_real_files_of_the_schema_are_read(shared_data: Path):
    """A file that others wrote gives its one result, and its checksum holds."""
    results, notes = read(shared_data / "harness_logs" / "every_eval_ever")

    assert [(one.model, dict(one.metrics)) for one in results] == [("demo-org/demo-model", {"accuracy": 1.0})]
    assert notes.counts == {}
