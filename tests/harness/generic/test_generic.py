"""Picks and results as plain tables."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Document
from benchcore.harness.generic.results import read_results
from benchcore.harness.generic.subset import write_jsonl, write_parquet
from benchcore.harness.notes import Notes
from tests.harness.picked import picks_of

PICKS = picks_of(
    [Document("h", "t", str(n), f"hash {n}", {}, f"Ask\u2028 {n}", "yes", ("yes", "no")) for n in range(3)]
)
COLUMNS = {
    "prompt_id",
    "benchmark",
    "category",
    "prompt",
    "choices",
    "answer",
    "weight",
    "rank",
    "role",
    "metadata",
    "record_id",
    "content_hash",
}


def test_both_formats_hold_the_same(tmp_path: Path):
    """Every pick by rank with all its columns; metadata is an object in JSON, text in Parquet."""
    write_jsonl("abc", PICKS, tmp_path)
    write_parquet("abc", PICKS, tmp_path)

    lines = [json.loads(line) for line in (tmp_path / "picks.jsonl").read_text("utf-8").split("\n") if line]
    rows = pq.read_table(tmp_path / "picks.parquet").to_pylist()
    assert set(lines[0]) == COLUMNS
    assert [line | {"metadata": "{}"} for line in lines] == rows
    assert [line["prompt_id"] for line in lines] == [pick.prompt_id for pick in PICKS]


def test_all_formats_of_results_are_read_alike(tmp_path: Path):
    """JSON lines, a JSON list, CSV, TSV, Parquet; gzip or not."""
    rows = [{"prompt_id": f"p{n}", "model": "m", "score": n / 2, "epoch": 1} for n in range(3)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "b.json").write_text(json.dumps(rows))
    (tmp_path / "c.csv").write_text("prompt_id,model,score\n" + "".join(f"p{n},m,{n / 2}\n" for n in range(3)))
    (tmp_path / "d.tsv").write_text("prompt_id\tmodel\tscore\n" + "".join(f"p{n}\tm\t{n / 2}\n" for n in range(3)))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "e.parquet")
    (tmp_path / "f.jsonl.gz").write_bytes(gzip.compress(text.encode()))

    read = [
        [(r.document.document_id, r.model, float(r.metrics["score"] or 0)) for r in read_results(file, Notes())]
        for file in sorted(tmp_path.iterdir())
    ]

    assert read == [[("p0", "m", 0.0), ("p1", "m", 0.5), ("p2", "m", 1.0)]] * 6


def test_what_the_columns_say(tmp_path: Path):
    """Metric, run, epoch, filter and the version of the prompt; what is not given is empty."""
    file = tmp_path / "r.jsonl"
    row = {"id": "p", "score": 1, "metric": "f1", "run": "r", "epoch": 2, "filter": "strict", "content_hash": "c"}
    file.write_text(json.dumps(row) + "\n")

    [result] = read_results(file, Notes())

    assert (result.run, result.epoch, result.filter, result.metrics) == ("r", 2, "strict", {"f1": 1})
    assert (result.model, result.document.record) == ("", {"content_hash": "c"})


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path):
    """Broken lines, no id, an epoch that is none; the others are read."""
    file = tmp_path / "r.jsonl"
    lines = ['{"id": "p", "score": 1}', "{", '{"score": 1}', '{"id": "p", "score": 1, "epoch": "0"}', "[1]"]
    file.write_text("\n".join(lines) + "\n")
    notes = Notes()

    assert len(list(read_results(file, notes))) == 1
    assert notes.counts == {"unreadable": 4}
    assert "row 1" in notes.examples["unreadable"][0]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("r.jsonl", '{"promptid": "p", "score": 1}', "Did you mean its 'promptid'"),
        ("r.jsonl", '{"prompt_id": "p", "points": 1}', "no 'score'"),
        ("r.jsonl", "[1, 2]", "no objects"),
        ("r.log", '{"prompt_id": "p", "score": 1}', "its name does not say"),
    ],
)
def test_a_file_of_another_kind_is_told(tmp_path: Path, name: str, text: str, told: str):
    """With the nearest column, and --map for what is made otherwise."""
    (tmp_path / name).write_text(text + "\n")

    with pytest.raises(UsageError, match=told):
        list(read_results(tmp_path / name, Notes()))


def test_a_file_that_was_cut_short_gives_nothing(tmp_path: Path):
    """What it no longer shows would be taken for missing."""
    file = tmp_path / "r.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"id": "p", "score": 1}\n' * 5000)[:-20])

    with pytest.raises(BenchcoreError, match=r"cut short.*Nothing was imported"):
        list(read_results(file, Notes()))


def test_a_folder_without_results_is_told(tmp_path: Path):
    """Rather than read as none."""
    with pytest.raises(UsageError, match="holds no results"):
        list(read_results(tmp_path, Notes()))


def test_a_table_with_another_delimiter_is_told(tmp_path: Path):
    """And what reads it."""
    (tmp_path / "r.csv").write_text("prompt_id;score\np;1\n")

    with pytest.raises(UsageError, match=r"the delimiter seems to be ';', which a map can declare"):
        list(read_results(tmp_path / "r.csv", Notes()))
