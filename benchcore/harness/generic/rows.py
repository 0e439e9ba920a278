"""Rows of the files that people write results to: JSON lines, JSON lists, CSV, TSV, Parquet; compressed or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchcore.config import Format
from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.logs import files_below
from benchcore.harness.notes import Notes
from benchcore.ingest.readers import RawRecord, ReadUnit, read_records

_FORMATS: dict[str, Format] = {
    ".jsonl": "json-lines",
    ".ndjson": "json-lines",
    ".json": "json-list",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
_COMPRESSED = (".gz", ".zst")
_MAX_DOCUMENT_BYTES = 256 * 1024**2


def files_in(path: Path) -> list[Path]:
    """A file itself, or the files below a folder whose names say that they hold rows, by name.

    Raises:
        UsageError: the folder holds none.
    """
    if not path.is_dir():
        return [path]
    found = [file for file in files_below(path) if format_of(file) is not None]
    if not found:
        raise UsageError("holds no results", where=str(path), mend=f"Their names end in {', '.join(_FORMATS)}.")
    return found


def format_of(file: Path) -> Format | None:
    """The format that a file's name says, its compression put aside."""
    name = file.name.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return next((known for ending, known in _FORMATS.items() if name.endswith(ending)), None)


def records_in(unit: ReadUnit) -> Iterator[RawRecord]:
    """The records of a file in order.

    Raises:
        BenchcoreError: it cannot be read to its end.
    """
    try:
        yield from read_records(unit)
    except UsageError:
        raise
    except BenchcoreError as error:
        mend = "Nothing was imported. Mend the file, or leave it out."
        raise BenchcoreError(error.what, where=error.where, mend=mend) from None


def rows_in(file: Path, notes: Notes, form: Format | None = None) -> Iterator[RawRecord]:
    """The rows of a file in order; what cannot be read goes to the notes.

    Raises:
        UsageError: neither `form` nor its name says what it is.
        BenchcoreError: it cannot be read to its end.
    """
    form = form or format_of(file)
    if form is None:
        mend = f"Name it with one of {', '.join(_FORMATS)}."
        raise UsageError("its name does not say what it is", where=str(file), mend=mend)
    unit = ReadUnit(str(file), str(file), form, max_document_bytes=_MAX_DOCUMENT_BYTES)
    for record in records_in(unit):
        if record.error is not None:
            notes.add("unreadable", f"{file} row {record.row}: {record.error}")
        else:
            yield record
