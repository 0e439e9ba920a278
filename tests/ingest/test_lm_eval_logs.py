"""Sample logs of lm-eval as a source: each document once, with the harness's own name of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchcore.config import SourceSpec
from benchcore.errors import BenchcoreError
from benchcore.ingest.canonical import Canonical
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of
from benchcore.registry.identity import prompt_id
from tests.harness.lm_eval.writing import (
    DATE,
    MOONS,
    RIVER,
    choice_line,
    line,
    lm_eval_hash,
    old_line,
    write_log,
    write_results,
)

from .conftest import Corpus

OTHER = "2026-03-05T05-06-07"


def spec_of(**declared: object) -> SourceSpec:
    tree = {"name": "logs", "benchmark": "rivers", "path": "logs/*.jsonl", "format": "lm-eval"} | declared
    return SourceSpec.model_validate(tree)


def test_a_source_of_logs_needs_no_mapping(tmp_path: Path):
    """By default the prompt is what was sent, and the answer the right option's text."""
    write_results(tmp_path, versions={"rivers": 2.0})
    file = write_log(tmp_path, "rivers", [choice_line(4, RIVER, acc=1.0)])

    (row,) = rows_of(ReadUnit(str(file), file.name, "lm-eval"), compile_mapping(spec_of()))

    found = row.outcome
    assert isinstance(found, Canonical)
    assert (found.prompt, found.answer, found.choices) == (RIVER["prompt"], "Lell", ["Lell", "Tarn"])
    assert (found.task, found.identity) == ("rivers", f"rivers/{lm_eval_hash(RIVER)}")
    assert json.loads(found.metadata) == {
        "document": {
            "harness": "lm-eval", "task": "rivers", "id": "4", "hash": lm_eval_hash(RIVER), "version": "2.0",
        }
    }  # fmt: skip


def test_a_mapping_sees_the_document_and_what_the_log_says(tmp_path: Path):
    """What `map` gives stands in place of the default; old lines are read too."""
    file = write_log(tmp_path, "rivers", [old_line(4, RIVER, acc=1.0)])
    mapping = {"prompt": "{{ prompt }} ({{ doc_id }}, {{ doc.n }})", "answer": "{{ target }}", "id": "{{ n }}"}

    (row,) = rows_of(ReadUnit(str(file), file.name, "lm-eval"), compile_mapping(spec_of(map=mapping)))

    assert (row.outcome.prompt, row.outcome.answer, row.outcome.identity) == (f"{RIVER['prompt']} (4, 1)", "Lell", "1")


def test_the_documents_of_several_logs_are_prompts_once(spark, corpus: Corpus):
    """Two models' logs in two orders, with two filters and a broken line: every row is accounted for."""
    write_results(corpus.data / "logs" / "a", versions={"rivers": 2.0})
    twin = [choice_line(n, MOONS, acc=0.0) for n in (1, 2)]  # two equal documents of the task are two
    filters = [line(3, RIVER | {"n": 5}, name, em=0.0) for name in ("strict", "loose")]
    write_log(corpus.data / "logs" / "a", "rivers", [choice_line(0, RIVER, acc=1.0), *twin, *filters, "{broken"])
    new = choice_line(4, RIVER | {"n": 9, "prompt": "Which river is new?"}, acc=1.0)
    write_log(corpus.data / "logs" / "b", "rivers", [*twin, choice_line(7, RIVER, acc=0.0), new], OTHER)
    corpus.specs["logs"] = spec_of(path="logs/*/samples_*.jsonl")

    outcome = corpus.ingest("first")

    assert outcome.counts["prompts_added"] == 5
    accounts = {
        row["path"].split("/")[1]: tuple(row[f"rows_{kind}"] for kind in ("read", "kept", "duplicate", "quarantined"))
        for row in corpus.rows("sources")
    }
    assert accounts == {"a": (5, 3, 1, 1), "b": (4, 1, 3, 0)}
    rows = {row["prompt_id"]: row for row in corpus.rows("prompts")}
    river = rows[prompt_id("rivers", f"id:rivers/{lm_eval_hash(RIVER)}")]
    document = json.loads(river["metadata"])["document"]
    assert (river["path"].split("/")[1], document["id"], document["version"]) == ("a", "0", "2.0")
    assert sorted(json.loads(row["metadata"])["document"]["id"] for row in rows.values()) == ["0", "1", "2", "3", "4"]
    assert not corpus.ingest("second").changed


def test_all_prompts_that_a_document_explodes_into_are_kept(spark, corpus: Corpus):
    """They are of one document, and no repeats of one another; those of a second log are."""
    quiz = RIVER | {"parts": ["Which river?", "Which sea?"]}
    write_log(corpus.data / "logs" / "a", "rivers", [line(0, quiz)])
    write_log(corpus.data / "logs" / "b", "rivers", [line(3, quiz)], OTHER)
    mapping = {"prompt": "{{ record }}", "id": "{{ record }}", "task": None, "choices": None, "answer": None}
    corpus.specs["logs"] = spec_of(path="logs/*/samples_*.jsonl", explode="{{ parts }}", map=mapping)

    outcome = corpus.ingest("first")

    assert outcome.counts["prompts_added"] == 2
    assert sorted(row["prompt"] for row in corpus.rows("prompts")) == ["Which river?", "Which sea?"]
    assert sorted((row["rows_kept"], row["rows_duplicate"]) for row in corpus.rows("sources")) == [(0, 2), (2, 0)]


def test_a_log_without_its_name_is_refused(tmp_path: Path):
    """The task is known from the name alone."""
    file = write_log(tmp_path, "rivers", [line(0, RIVER)]).rename(tmp_path / "rivers.jsonl")

    with pytest.raises(BenchcoreError, match="its task is not known"):
        list(rows_of(ReadUnit(str(file), file.name, "lm-eval"), compile_mapping(spec_of())))


def test_lines_of_something_else_are_quarantined(tmp_path: Path):
    """A line without a document is told with its row."""
    file = write_log(tmp_path, "rivers", [{"q": 1}, line(0, RIVER)], DATE)

    first, second = rows_of(ReadUnit(str(file), file.name, "lm-eval"), compile_mapping(spec_of()))

    assert "no 'doc_id'" in first.outcome.reason
    assert (second.source_row, second.outcome.answer) == (1, "Lell")
