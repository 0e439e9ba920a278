"""What a harness is to benchcore: a reader of its logs and a writer of its subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchcore.harness.documents import Document, Result
from benchcore.harness.notes import Notes
from benchcore.harness.picks import Exported, Pick

Results = Callable[[Path, Notes], Iterator[Result]]
Documents = Callable[[Path, Notes], Iterator[Document]]
Export = Callable[[str, Sequence[Pick], Path], Exported]


@dataclass(frozen=True)
class Harness:
    """One harness; all parts are functions, and what a harness lacks is None.

    Attributes:
        title: its name for people.
        results: read the results in a file or below a folder, in a stable order, streaming: memory does not grow with
            the file. What is no log of this harness raises UsageError; lines that cannot be read go to the notes.
        documents: read documents from a dump; None where only logs hold them (their results' documents are used).
        export: write the subset: coreset id, picks by rank, folder (exists, empty).
        needs_documents: whether `export` can only name picks that are bound to documents.
    """

    title: str
    results: Results | None = None
    documents: Documents | None = None
    export: Export | None = None
    needs_documents: bool = False
