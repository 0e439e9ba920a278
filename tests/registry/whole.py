"""A small registry in which everything is as it should be: files, duplicates, a retired prompt, a coreset, scores."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from tests.registry.stored import embedding, prompt, source, store, store_coreset

SAME = {"prompt": "What is asked twice?", "answer": "this"}

# In `one.jsonl`: a prompt and its copy, two more, one that the file has no longer. In `two.jsonl`: one that `one` has.
FIRST, COPY, OTHER, SPARE = (prompt("one", number, **(SAME if number < 2 else {})) for number in range(4))
GONE = prompt("one", 9, retired_at=datetime(2026, 1, 1, tzinfo=UTC))
FIRST, COPY = sorted((FIRST, COPY), key=lambda row: row["prompt_id"])
COPY |= {"duplicate_of": FIRST["prompt_id"]}
ELSEWHERE, ALONE = prompt("two", 0, **SAME), prompt("two", 1)
MARKED, NAMED = sorted((FIRST, ELSEWHERE), key=lambda row: row["prompt_id"], reverse=True)
MARKED |= {"duplicate_of": NAMED["prompt_id"]}

PROMPTS = (FIRST, COPY, OTHER, SPARE, GONE, ELSEWHERE, ALONE)
PICKS = (OTHER, ALONE)
CORESET = "c0ffee"

_COUNTS = ("rows_read", "rows_kept", "rows_duplicate", "rows_quarantined")


def score(row: dict[str, Any], **values: Any) -> dict[str, Any]:
    """A row of `scores` on a prompt."""
    fields = {"model": "m", "prompt_id": row["prompt_id"], "run": "r", "metric": "em", "epoch": 1}
    fields |= {"content_hash": row["content_hash"], "score": 1.0, "raw_score": "1.0", "source_path": "log.jsonl"}
    return dict.fromkeys(SCHEMAS["scores"].names) | fields | values


def binding(row: dict[str, Any], **values: Any) -> dict[str, Any]:
    """A row of `bindings` of a prompt."""
    fields = {"harness": "h", "task": "t", "document_hash": row["content_hash"], "document_id": "7"}
    fields |= {"prompt_id": row["prompt_id"], "content_hash": row["content_hash"], "harness_version": "1"}
    return fields | values


def quarantined(benchmark: str, row: int, **values: Any) -> dict[str, Any]:
    """A row of `quarantine` of a benchmark's file."""
    fields = {"source": benchmark, "path": f"{benchmark}.jsonl", "source_row": row, "benchmark": benchmark}
    return fields | {"reason": "the prompt is empty", "raw": '{"q": "   "}', "run_id": "run"} | values


def account(benchmark: str, *counts: int, **values: Any) -> dict[str, Any]:
    """A row of `sources`: rows read, kept, duplicate, quarantined."""
    return source(benchmark, **dict(zip(_COUNTS, counts, strict=True)), run_id="run", **values)


def write_whole(registry: Registry) -> None:
    """Write all of it, each table in one commit."""
    store(registry, "prompts", PROMPTS)
    store(registry, "quarantine", [quarantined("one", 5)])
    earlier = account("one", 9, 9, 0, 0, content_sha256="earlier", superseded_by="run")
    store(registry, "sources", [account("one", 5, 3, 1, 1), account("two", 2, 2, 0, 0), earlier])
    texts = dict.fromkeys(row["content_hash"] for row in PROMPTS)
    store(registry, "embeddings", [embedding(text, "e") for text in texts])
    store_coreset(registry, CORESET, PICKS, table_versions={"prompts": 0, "sources": 0, "embeddings": 0})
    store(registry, "scores", [score(OTHER), score(GONE)])
    store(registry, "bindings", [binding(OTHER)])
