"""From a unit of a file to numbered rows: each is a prompt, or a reason to quarantine it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchcore.errors import BenchcoreError
from benchcore.ingest.canonical import Canonical, Rejection
from benchcore.ingest.mapping import Mapping
from benchcore.ingest.readers import RawRecord, ReadUnit, read_records
from benchcore.ingest.readers.records import raw_text
from benchcore.template_sandbox import TooSlow


@dataclass(frozen=True)
class Row:
    """One row read.

    Attributes:
        source_row: unique in its file: the record's number, or with `explode` a running number of the examples.
        outcome: the prompt, or why there is none.
    """

    source_row: int
    outcome: Canonical | Rejection


def rows_of(unit: ReadUnit, mapping: Mapping) -> Iterator[Row]:
    """Read and map a unit; every record, or with `explode` every example, gives exactly one row.

    Raises:
        UsageError, BenchcoreError: as `read_records` and `Mapping.map`.
    """
    path = PurePosixPath(unit.path)
    running = 0
    for record in read_records(unit):
        try:
            outcomes = _outcomes(record, path, mapping)
        except TooSlow as error:
            raise BenchcoreError(error.what, where=f"{unit.path} row {record.row}", mend=error.mend) from None
        for outcome in outcomes:
            yield Row(running if mapping.explodes else record.row, outcome)
            running += 1


def _outcomes(record: RawRecord, path: PurePosixPath, mapping: Mapping) -> list[Canonical | Rejection]:
    if record.error is not None:
        return [Rejection(raw_text(record.error), record.raw)]
    return mapping.map(record.value, path, record.key, record.document)
