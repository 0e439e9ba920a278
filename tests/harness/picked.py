"""Picks for tests of exporters."""

from collections.abc import Sequence

from benchcore.harness.documents import Document
from benchcore.harness.picks import Bound, Pick


def picks_of(documents: Sequence[Document]) -> list[Pick]:
    """A pick a document, bound to it."""
    return [
        Pick(
            rank=rank,
            prompt_id=f"prompt-{rank}",
            content_hash=f"content-{rank}",
            benchmark="tides",
            category="sea",
            role="core",
            weight=1 / len(documents),
            prompt=document.request or "",
            answer=document.answer,
            choices=document.choices,
            task=None,
            split=None,
            language=None,
            record_id=None,
            source="tides",
            path="tides.jsonl",
            source_row=rank,
            metadata={},
            documents=(Bound(document.task, document.document_id, document.document_hash, document.version),),
        )
        for rank, document in enumerate(documents)
    ]
