"""The real OpenCompass runs an exported subset, and what it writes is read back."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchcore.harness.documents import Document
from benchcore.harness.notes import Notes
from benchcore.harness.opencompass import OPENCOMPASS
from tests.harness.environments import environment, run_in
from tests.harness.picked import picks_of

MODEL = """\
models = [
    dict(type="hasty_model.Hasty", abbr="gull", path="gull", max_out_len=8, batch_size=8, run_cfg=dict(num_gpus=0))
]
"""


@pytest.mark.slow
def test_the_exported_subset_is_what_is_run(tmp_path: Path):
    """Free answers and choices are scored, and each result has the id of its prompt."""
    programs = environment("opencompass")
    (tmp_path / "configs" / "models").mkdir(parents=True)
    (tmp_path / "configs" / "models" / "gull.py").write_text(MODEL)
    shutil.copy(Path(__file__).with_name("hasty_model.py"), tmp_path)
    document = Document("opencompass", "tides", "", "", {}, "")
    picks = [
        replace(
            pick, prompt=f"When is high water {at}?", answer=f"at {at}", choices=("at 1", f"at {at}") if at % 2 else ()
        )
        for at, pick in enumerate(picks_of([document] * 8))
    ]
    assert OPENCOMPASS.export is not None and OPENCOMPASS.results is not None
    exported = OPENCOMPASS.export("c0ffee0123456789", picks, tmp_path)

    run_in(programs, exported.command.replace("MODEL", "gull"), tmp_path, PYTHONPATH=str(tmp_path))
    notes = Notes()
    results = list(OPENCOMPASS.results(tmp_path / "outputs", notes))

    right = {result.document.record["prompt_id"]: bool(result.metrics["correct"]) for result in results}
    assert {pick.prompt_id: pick.rank in (1, 4) for pick in picks} == right
    assert {"gull"} == {result.model for result in results}
    assert notes.counts == {}
