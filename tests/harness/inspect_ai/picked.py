"""Picks as an exporter gets them."""

from __future__ import annotations

from typing import Any

from benchcore.harness.documents import Document
from benchcore.harness.picks import Bound, Pick


def pick_of(rank: int, document: Document | None = None, **changes: Any) -> Pick:
    bound = (
        ()
        if document is None
        else (Bound(document.task, document.document_id, document.document_hash, document.version),)
    )
    fields: dict[str, Any] = {
        "rank": rank,
        "prompt_id": f"prompt-{rank}",
        "content_hash": f"content-{rank}",
        "benchmark": "invented",
        "category": "tales",
        "role": "core",
        "weight": 0.1,
        "prompt": f"Say word number {rank}.",
        "answer": "word",
        "choices": (),
        "task": None,
        "split": None,
        "language": None,
        "record_id": None,
        "source": "invented",
        "path": "invented.jsonl",
        "source_row": rank,
        "metadata": {},
        "documents": bound,
    }
    return Pick(**(fields | changes))
