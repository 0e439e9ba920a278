"""What a harness is to benchcore: a reader of its logs and a writer of its subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchcore.harness.documents import Document, Result
from benchcore.harness.notes import Notes
from benchcore.harness.picks import Exported, Pick

if TYPE_CHECKING:
    from benchcore.leaderboard.matrix import ScoreMatrix

Results = Callable[[Path, Notes], Iterator[Result]]
Documents = Callable[[Path, Notes], Iterator[Document]]
Export = Callable[[str, Sequence[Pick], Path], Exported]
Aggregates = Callable[[Path], "ScoreMatrix | None"]


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
        aggregates: read scores of whole tasks in a file or below a folder, for `leaderboards`; None: it holds none.
        by_record_id: whether tasks are benchmarks, and document ids the record ids that the registry's sources declare.
    """

    title: str
    results: Results | None = None
    documents: Documents | None = None
    export: Export | None = None
    needs_documents: bool = False
    aggregates: Aggregates | None = None
    by_record_id: bool = False
