"""lighteval: details as results, the picks as custom tasks."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Document, Result
from benchcore.harness.lighteval import LIGHTEVAL
from benchcore.harness.lighteval.details import SUBSET
from benchcore.harness.notes import Notes
from tests.harness.picked import picks_of

DATE = "2026-03-01T10-00-00.000000"


def row(number: int, gold: Any = 1, **more: Any) -> dict[str, Any]:
    doc = {
        "query": f"When is high water {number}?",
        "choices": [" at noon", f" at {number}"],
        "gold_index": gold,
        "id": str(number),
        "task_name": "tides:north|5",
    }
    return {"doc": doc | more, "metric": {"acc": number % 2}, "model_response": {"text": ["?"]}}


def details(folder: Path, rows: list[dict[str, Any]], task: str = "tides:north|5") -> Path:
    place = folder / "details" / "lab" / "gull" / DATE
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), place / f"details_{task}_{DATE}.parquet")
    return folder


def read(path: Path) -> tuple[list[Result], Notes]:
    notes = Notes()
    assert LIGHTEVAL.results is not None
    return list(LIGHTEVAL.results(path, notes)), notes


def test_details_are_results(tmp_path: Path):
    """Model, date and number of examples are told by the path; answers by the index of the right choice."""
    results, notes = read(details(tmp_path, [row(1), row(2)]))

    assert [dict(result.metrics) for result in results] == [{"acc": 1}, {"acc": 0}]
    assert {("lab/gull", f"{DATE}|5")} == {(result.model, result.run) for result in results}
    first = results[0].document
    assert (
        first.task,
        first.document_id,
        first.request,
        first.answer,
        first.choices,
    ) == ("tides:north", "1", "When is high water 1?", "at 1", ("at noon", "at 1"))
    assert notes.counts == {}


def test_a_document_is_known_by_content(tmp_path: Path):
    """Not by its place, its id, or the subset's name of the task; a single index and a list of one are the same."""
    first, _ = read(details(tmp_path / "a", [row(1), row(2)]))
    named = {"id": "77", "task_name": f"tides:north{SUBSET}|5"}
    again, _ = read(details(tmp_path / "b", [row(2, [1], **named), row(1, [1], **named)], f"tides:north{SUBSET}|5"))

    keys = [[(one.document.task, one.document.document_hash) for one in results] for results in (first, again[::-1])]
    assert keys[0] == keys[1]
    assert keys[0][0] != keys[0][1]


@pytest.mark.parametrize("prefix", ["", "__"])
def test_older_shapes_are_read(tmp_path: Path, prefix: str):
    """Columns with underscores, a suite before the task, and files from before there was a column `doc`."""
    end = prefix
    rows = [{f"{prefix}doc{end}": row(1)["doc"], f"{prefix}metric{end}": {"acc": 1.0}}]
    results, _ = read(details(tmp_path / "new", rows))
    flat = {"example": "When is high water 1?", "choices": [" at noon", " at 1"], "gold_index": [1]}
    older, _ = read(details(tmp_path / "old", [flat | {"metrics": {"acc": 1.0}}], "sea|tides:north|5"))

    assert results[0].metrics == older[0].metrics == {"acc": 1.0}
    assert (results[0].document.task, results[0].document.document_hash) == (
        older[0].document.task,
        older[0].document.document_hash,
    )


def test_what_is_no_score_is_noted(tmp_path: Path):
    """What a metric keeps for the corpus, and rows without a question, are counted; a missing score is missing."""
    rows = [row(1), row(2, query=None), row(3)]
    for each in rows:
        each["metric"] = {"acc": None, "corpus": [1, 2]}

    results, notes = read(details(tmp_path, rows))

    assert [dict(result.metrics) for result in results] == [{"acc": None}, {"acc": None}]
    assert notes.counts == {"metrics that are no score of one document": 2, "unreadable": 1}


def test_other_files_are_refused(tmp_path: Path):
    """No details, other Parquet and a truncated file: each names itself."""
    with pytest.raises(UsageError, match="--save-details"):
        read(tmp_path)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "details_x_1.parquet")
    with pytest.raises(UsageError, match="details_x_1"):
        read(tmp_path)
    whole = (tmp_path / "details_x_1.parquet").read_bytes()
    (tmp_path / "details_x_1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BenchcoreError, match="cannot be read"):
        read(tmp_path)


def test_the_picks_become_custom_tasks(tmp_path: Path):
    """Names and hashes are data beside Python that is always the same; impossible names are left out and told."""
    documents = [
        Document("lighteval", "tides:north", "1", "one", {}, "asked"),
        Document("lighteval", "tides:north", "2", "two", {}, "asked"),
        Document("lighteval", "x'''\nimport os", "3", "three", {}, "asked"),
        Document("lighteval", "a|b", "4", "four", {}, "asked"),
    ]
    assert LIGHTEVAL.export is not None
    exported = LIGHTEVAL.export("c0ffee", picks_of(documents), tmp_path)

    assert json.loads((tmp_path / "picks.json").read_text())["tasks"] == {"tides:north": ["one", "two"]}
    assert f"tides:north{SUBSET}|0\n" == (tmp_path / "tasks.txt").read_text()
    assert [pick.documents[0].task for pick, _ in exported.left_out] == ["x'''\nimport os", "a|b"]
    script = (tmp_path / "subset_tasks.py").read_text()
    compile(script, "subset_tasks.py", "exec")
    assert "import os\nfrom" in script and "tides" not in script and "None\n\n\n#" not in script
