"""The real lighteval runs an exported subset of a task on local data, and what it writes is read back."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.harness.lighteval import LIGHTEVAL
from benchcore.harness.notes import Notes
from tests.harness.environments import environment, run_in
from tests.harness.picked import picks_of

HERE = Path(__file__).parent
DATA = [
    {"question": f"When is high water {at}?", "choices": ["at noon", f"at {at}"], "gold": at % 2} for at in range(20)
]


@pytest.mark.slow
def test_the_exported_subset_is_what_is_run(tmp_path: Path):
    """Exactly the picks are evaluated, under the ids that they have in the whole task."""
    programs = environment("lighteval")
    if not list(programs.parent.glob("lib/*/site-packages/lighteval/tasks/tasks/tinyBenchmarks.pkl")):
        pytest.skip("lighteval fetches tasks/tasks/tinyBenchmarks.pkl when it starts; an empty file there will do")
    for file in ("own_tasks.py", "shortest_model.py"):
        shutil.copy(HERE / file, tmp_path)
    (tmp_path / "tides").mkdir()
    pq.write_table(pa.Table.from_pylist(DATA), tmp_path / "tides" / "test.parquet")
    assert LIGHTEVAL.export is not None and LIGHTEVAL.results is not None
    model = "lighteval custom lab/gull shortest_model.py"
    run_in(programs, f"{model} 'tides:north|0' --custom-tasks own_tasks.py --output-dir full --save-details", tmp_path)
    whole = [result.document for result in LIGHTEVAL.results(tmp_path / "full", Notes())]
    picked = [document for document in whole if int(document.document_id) % 4 == 0]
    exported = LIGHTEVAL.export("c0ffee0123456789", picks_of(picked), tmp_path)

    command = exported.command.replace('lighteval accelerate "model_name=MODEL"', model)
    run_in(programs, command, tmp_path, CUSTOM_TASKS="own_tasks.py")
    results = list(LIGHTEVAL.results(tmp_path / "details", Notes()))

    assert len(DATA) == len(whole)
    assert len(picked) == len(results) == 5
    key = {(one.document_id, one.document_hash, one.task) for one in picked}
    assert key == {(one.document.document_id, one.document.document_hash, one.document.task) for one in results}
    assert {"lab/gull"} == {result.model for result in results}
    assert {0, 1} >= {result.metrics["acc"] for result in results}
