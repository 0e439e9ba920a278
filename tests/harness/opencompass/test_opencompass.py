"""OpenCompass: results with details as scores, the picks as custom data sets."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import UsageError
from benchcore.harness.documents import Document, Result
from benchcore.harness.notes import Notes
from benchcore.harness.opencompass import OPENCOMPASS
from benchcore.harness.picks import Exported, Pick
from tests.harness.picked import picks_of


def work(folder: Path, results: Any, predictions: Any = None, dataset: str = "tides") -> Path:
    run = folder / "20260301_100000"
    run.mkdir(parents=True, exist_ok=True)
    for kind, content in (("results", results), ("predictions", predictions)):
        if content is not None:
            file = run / kind / "gull" / f"{dataset}.json"
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(content))
    return folder


def asked(number: int) -> list[dict[str, str]]:
    return [{"role": "HUMAN", "prompt": f"When is high water {number}?"}]


def read(path: Path) -> tuple[list[Result], Notes]:
    notes = Notes()
    assert OPENCOMPASS.results is not None
    return list(OPENCOMPASS.results(path, notes)), notes


def picks(*changes: dict[str, Any]) -> list[Pick]:
    document = Document("x", "x", "x", "x", {}, "When is high water?", "at 1", ("at noon", "at 1"))
    return [replace(pick, **change) for pick, change in zip(picks_of([document] * len(changes)), changes, strict=True)]


def export(folder: Path, *changes: dict[str, Any]) -> Exported:
    assert OPENCOMPASS.export is not None
    return OPENCOMPASS.export("c0ffee0123456789", picks(*changes), folder)


@pytest.mark.parametrize("as_list", [False, True])
def test_details_are_results(tmp_path: Path, as_list: bool):
    """Keyed by index or in a list; model and run are told by the folders."""
    details = [{"prompt": asked(at), "references": f"at {at}", "correct": at == 1} for at in range(2)]
    keyed = {"type": "GEN"} | {str(at): detail for at, detail in enumerate(details)}

    results, notes = read(work(tmp_path, {"accuracy": 50.0, "details": details if as_list else keyed}))

    assert [dict(result.metrics) for result in results] == [{"correct": False}, {"correct": True}]
    assert (
        results[1].model,
        results[1].run,
        results[1].document.task,
        results[1].document.request,
        results[1].document.answer,
        results[1].document.document_id,
    ) == ("gull", "20260301_100000", "tides", "When is high water 1?", "at 1", "1")
    assert notes.counts == {}


def test_runs_of_one_detail_are_epochs(tmp_path: Path):
    """Newer versions keep a list of the runs' values for each field of a detail."""
    detail = {"example_abbr": "tides_0", "question": ["When?"] * 2, "refr": ["B"] * 2, "correct": [True, False]}

    results, _ = read(work(tmp_path, {"accuracy": 50.0, "details": [detail]}))

    assert [(one.epoch, dict(one.metrics)) for one in results] == [(1, {"correct": True}), (2, {"correct": False})]
    assert {("When?", "B", "0")} == {
        (one.document.request, one.document.answer, one.document.document_id) for one in results
    }


def test_what_was_asked_is_taken_from_the_predictions(tmp_path: Path):
    """Details of choices do not show the question; the predictions of the same run do, also where they are in parts."""
    details = {str(at): {"pred": "A", "refr": "B", "correct": False} for at in range(2)}
    folder = work(tmp_path, {"accuracy": 0.0, "details": details}, {"0": {"origin_prompt": asked(0)}}, "tides")
    place = tmp_path / "20260301_100000" / "predictions" / "gull"
    (place / "tides.json").rename(place / "tides_0.json")
    (place / "tides_1.json").write_text(json.dumps({"0": {"origin_prompt": asked(1)}}))

    results, _ = read(folder)

    assert [result.document.request for result in results] == ["When is high water 0?", "When is high water 1?"]


def test_without_a_verdict_equality_counts_only_if_it_is_the_accuracy(tmp_path: Path):
    """Predictions that equal their references must make up the accuracy that the file tells; else nothing is scored."""
    details = {str(at): {"prompt": asked(at), "predictions": "at 1", "references": f"at {at}"} for at in range(2)}

    right, _ = read(work(tmp_path / "a", {"accuracy": 50.0, "details": details}))
    other, _ = read(work(tmp_path / "b", {"accuracy": 100.0, "details": details}))

    assert [dict(result.metrics) for result in right] == [{"correct": False}, {"correct": True}]
    assert [dict(result.metrics) for result in other] == [{}, {}]


def test_what_cannot_be_told_is_noted(tmp_path: Path):
    """Details without a question, broken ones, and results without details are counted; no results is an error."""
    work(tmp_path, {"details": {"0": {"correct": True}, "1": 7, "2": {"prompt": "asked", "correct": True}}})
    (tmp_path / "20260301_100000" / "results" / "gull" / "moons.json").write_text('{"accuracy": 3}')

    results, notes = read(tmp_path)

    assert [result.document.request for result in results] == ["asked"]
    assert notes.counts == {
        "results without details (run with --dump-eval-details)": 1,
        "details that do not show what was asked": 1,
        "unreadable": 1,
    }
    with pytest.raises(UsageError, match="results/MODEL/DATASET"):
        read(work(tmp_path / "none", None))


def test_exported_data_sets_carry_ids_and_find_their_way_back(tmp_path: Path):
    """A run inside the export's folder gives each result the id of its prompt, question or not."""
    exported = export(tmp_path, {}, {"prompt_id": "other", "prompt": "When is low water?"})
    name = "benchcore-c0ffee012345-mcq2"
    details = {str(at): {"pred": "A", "refr": "B", "correct": False} for at in range(2)}
    work(tmp_path / "outputs", {"details": details}, dataset=name)

    results, notes = read(tmp_path / "outputs")
    rows = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
    meta = json.loads((tmp_path / f"{name}.jsonl.meta.json").read_text())

    assert [result.document.record["prompt_id"] for result in results] == ["prompt-0", "other"]
    assert [result.document.request for result in results] == ["When is high water?", "When is low water?"]
    assert {"question": "When is high water?", "A": "at noon", "B": "at 1", "answer": "B"}.items() <= rows[0].items()
    assert (meta["input_columns"], meta["options"]) == (["question", "A", "B"], ["A", "B"])
    assert exported.command.count("opencompass ") == 1
    assert notes.counts == {}


def test_rows_of_another_export_are_not_taken(tmp_path: Path):
    """A question that is not the row's own, or another number of rows, gives no id."""
    export(tmp_path, {}, {"prompt": "When is low water?"})
    details = {str(at): {"prompt": "Which moon?", "correct": False} for at in range(2)}
    work(tmp_path / "a", {"details": details}, dataset="benchcore-c0ffee012345-mcq2")
    work(tmp_path / "b", {"details": {"0": details["0"]}}, dataset="benchcore-c0ffee012345-mcq2")

    first, _ = read(tmp_path / "a")
    second, notes = read(tmp_path / "b")

    assert not any("prompt_id" in result.document.record for result in [*first, *second])
    assert notes.counts == {"another number of details than the exported data set has rows": 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": None}, "no answer"),
        ({"answer": "never"}, "none of its choices"),
        ({"choices": ("x",) * 27}, "27 choices"),
        ({"prompt": "Fill {A} in"}, "fill in"),
    ],
)
def test_picks_that_cannot_be_asked_are_left_out_with_the_reason(tmp_path: Path, change: dict[str, Any], reason: str):
    """The others are written."""
    exported = export(tmp_path, change, {"choices": ("at one",), "answer": "at one"})

    assert [reason in said for _, said in exported.left_out] == [True]
    assert {"benchcore-c0ffee012345-qa.jsonl", "benchcore-c0ffee012345-qa.jsonl.meta.json"} == {
        file.name for file in exported.files
    }


def test_nothing_from_outside_becomes_python(tmp_path: Path):
    """OpenCompass evaluates `test_range`; the metadata has none, and texts are rows of JSON."""
    hostile = '"]; import os\n{"test_range": "[0]"}'
    exported = export(tmp_path, {"prompt": hostile, "benchmark": hostile, "prompt_id": hostile})

    metas = [file.read_text() for file in exported.files if file.name.endswith(".meta.json")]
    assert all("test_range" not in meta and "import" not in meta for meta in metas)
    assert "import" not in exported.command
    assert len(exported.files[0].read_text().splitlines()) == 1
