"""Logs of Inspect as a source: each sample once, with Inspect's own name of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchcore.config import SourceSpec
from benchcore.errors import BenchcoreError
from benchcore.ingest.canonical import Canonical, Rejection
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.readers.inspect_content import sample_hash
from benchcore.ingest.rows import Row, rows_of
from tests.harness.inspect_ai.crafted import ZSTANDARD, members_of, sample, write_eval, write_json, zipped


def source(**declared: Any) -> SourceSpec:
    return SourceSpec.model_validate(
        {"name": "tales", "benchmark": "tales", "path": "*.eval", "format": "inspect", **declared}
    )


def rows(file: Path, **declared: Any) -> list[Row]:
    return list(rows_of(ReadUnit(str(file), file.name, "inspect"), compile_mapping(source(**declared))))


def test_a_sample_becomes_a_prompt_once_whatever_its_epochs(tmp_path: Path):
    """Without a mapping of one's own the input is the prompt, and the answer is the choice that the target names."""
    one = sample("one", choices=["the ebb", "the flow"], target="B")
    (first, second) = rows(
        write_eval(tmp_path / "a.eval", members_of([one, one | {"epoch": 2}, sample("two", epoch=2), sample("two")]))
    )

    assert isinstance(first.outcome, Canonical) and isinstance(second.outcome, Canonical)
    assert (first.source_row, second.source_row) == (0, 1)
    assert (first.outcome.prompt, first.outcome.choices) == ("Tell the tale of one.", ["the ebb", "the flow"])
    assert (first.outcome.answer, first.outcome.task) == ("the flow", "invented/tales")
    assert (second.outcome.prompt, second.outcome.answer) == ("Tell the tale of two.", "the end of two")
    hashed = sample_hash("Tell the tale of one.", "B", ["the ebb", "the flow"])
    assert first.outcome.identity == f"invented/tales/{hashed}"
    assert json.loads(first.outcome.metadata) == {
        "document": {"harness": "inspect", "hash": hashed, "id": "one", "task": "invented/tales", "version": "2"}
    }


def test_a_mapping_of_ones_own_sees_the_samples_fields(tmp_path: Path):
    """Input, target, choices, metadata and id can be mapped as any record's; the document's name stays with it."""
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tell."}]
    file = write_json(tmp_path / "a.json", [sample(7, input=chat)])
    mapping = {
        "id": "{{ id }}",
        "prompt": "{{ input[-1].content }}",
        "answer": "{{ target }}",
        "metadata": {"by": "{{ metadata.teller }}"},
    }
    (row,) = rows(file, map=mapping)

    assert isinstance(row.outcome, Canonical)
    assert (row.outcome.identity, row.outcome.prompt, row.outcome.answer) == ("7", "Tell.", "the end of 7")
    assert json.loads(row.outcome.metadata)["by"] == "old"
    assert json.loads(row.outcome.metadata)["document"]["id"] == "7"


def test_what_is_no_sample_is_quarantined_and_a_log_cut_short_stops(tmp_path: Path):
    """One broken sample costs itself; of a log that is not whole no sample is taken, or others would be retired."""
    members = [*members_of([sample("one")]), ("samples/two_epoch_1.json", b"{")]
    (kept, broken) = rows(write_eval(tmp_path / "a.eval", members))
    (tmp_path / "b.eval").write_bytes(zipped(members, ZSTANDARD)[:-30])

    assert isinstance(kept.outcome, Canonical)
    assert isinstance(broken.outcome, Rejection) and "not JSON" in broken.outcome.reason
    with pytest.raises(BenchcoreError, match=r"is no whole \.eval log"):
        rows(tmp_path / "b.eval")
