"""What is read and what comes out: a unit of one file, and its records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchcore.config import Format, SourceSpec

RAW_CHARACTERS = 10_000  # a quarantined record is kept up to here; path and row name the rest


@dataclass(frozen=True)
class ReadUnit:
    """One file, or one part of a JSON-lines file; what one task reads.

    Attributes:
        uri: absolute local path, or fsspec address, of the file.
        path: the file relative to the data folder, with `/`; it is what messages and templates see.
        start: first byte of the part; a part begins at the start of a line (see `line_splits`).
        length: bytes of the part; None reads to the end.
        first_row: number of lines before the part.
        delimiter: of a table's fields, where it is not the one that its format says.
        max_document_bytes: largest file that is parsed whole, and largest single line.
    """

    uri: str
    path: str
    format: Format
    encoding: str = "utf-8"
    header: bool = True
    columns: tuple[str, ...] | None = None
    quotes: bool = True
    delimiter: str | None = None
    max_document_bytes: int = 256 * 1024**2
    start: int = 0
    length: int | None = None
    first_row: int = 0

    @classmethod
    def of(cls, spec: SourceSpec, uri: str, path: str, max_document_bytes: int) -> ReadUnit:
        """The unit that reads a whole file as its source declares it."""
        return cls(
            uri=uri,
            path=path,
            format=spec.format,
            encoding=spec.encoding,
            header=spec.header,
            columns=spec.columns,
            quotes=spec.quotes,
            max_document_bytes=max_document_bytes,
        )


@dataclass(frozen=True)
class RawRecord:
    """One record as it stands in its file, or the reason why it could not be parsed.

    Attributes:
        row: number of the record in the file from 0; for JSON lines the number of the line, blank ones counted.
        value: the parsed record; None where `error` is set.
        key: the record's key in a JSON object, else None.
        text: the record's own text where the format has one (a line); see `raw`.
        error: why it could not be parsed, else None.
        document: for a record of a harness's log, the harness's own names of it (harness, task, id, hash, version);
            they are kept in the prompt's metadata under `document`.
    """

    row: int
    value: Any = None
    key: str | None = None
    text: str | None = None
    error: str | None = None
    document: Mapping[str, str | None] | None = None

    @property
    def raw(self) -> str:
        """The record's text for the quarantine table: at most `RAW_CHARACTERS`, always valid UTF-8 without NUL."""
        return raw_text(self.value if self.text is None else self.text)


def raw_text(value: Any) -> str:
    """Write anything as bounded text that every table can hold; unpaired surrogates and NUL come out escaped."""
    bounded = _written(value)[:RAW_CHARACTERS].encode("utf-8", "backslashreplace").decode("utf-8")
    return bounded.replace("\x00", "\\x00")


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply to be written)"
