"""CSV and TSV, with and without header, with newlines inside quoted fields."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO

from benchcore.ingest.readers.opening import (
    DAMAGED,
    damaged,
    decompressed,
    newline_is_one_byte,
    open_bytes,
    undecodable,
)
from benchcore.ingest.readers.records import RAW_CHARACTERS, RawRecord, ReadUnit

_DELIMITERS = {"csv": ",", "tsv": "\t"}


class _Undecodable(ValueError):
    """A line that is no text in the declared encoding."""


def read_delimited(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield one record a row, as a mapping from column to text.

    A row with too few or too many fields, or with a stray quote, is a record with an error; so is the place where
    the file stops being text or its last quote stays open, and there reading ends.
    """
    csv.field_size_limit(unit.max_document_bytes)
    with open_bytes(unit.uri, unit.path) as stream:
        consumed: list[str] = []
        reader = csv.reader(
            _lines(decompressed(stream), unit.encoding, consumed),
            delimiter=_DELIMITERS[unit.format],
            quoting=csv.QUOTE_MINIMAL if unit.quotes else csv.QUOTE_NONE,
            strict=True,
        )
        columns = unit.columns
        if unit.header:
            header, problem = _next(reader, consumed)
            if header is None:
                yield RawRecord(0, text=_raw(consumed), error=problem or "the file is empty")
                return
            columns = columns or tuple(header)
        yield from _rows(reader, consumed, columns or ())


def _rows(reader: Iterator[list[str]], consumed: list[str], columns: tuple[str, ...]) -> Iterator[RawRecord]:
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        yield RawRecord(0, text=_raw(consumed), error=f"the header names column '{twice[0]}' twice")
        return
    row = 0
    while True:
        fields, problem = _next(reader, consumed)
        if fields is None and problem is None:
            return
        if fields is not None and len(fields) != len(columns):
            problem = f"the row has {len(fields)} fields, not {len(columns)} (a stray quote or delimiter?)"
        value = None if problem or fields is None else dict(zip(columns, fields, strict=True))
        yield RawRecord(row, value, text=_raw(consumed), error=problem)
        row += 1


def _next(reader: Iterator[list[str]], consumed: list[str]) -> tuple[list[str] | None, str | None]:
    """The next row that is not blank, or what is wrong with it; (None, None) at the end."""
    while True:
        consumed.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return None, None
        except csv.Error as error:
            return None, f"not a row: {error} (a quote inside a field is written twice, or set quotes: false)"
        except (_Undecodable, UnicodeError) as error:
            return None, str(error)
        except DAMAGED as error:
            return None, damaged(error)
        if fields:
            return fields, None


def _lines(stream: IO[bytes], encoding: str, consumed: list[str]) -> Iterator[str]:
    """Decode line by line, so that a wrong byte is found in its own row; notes what it has given in `consumed`."""
    first = True
    for line in _physical_lines(stream, encoding):
        text = line.removeprefix("\ufeff") if first else line
        first = False
        consumed.append(text)
        yield text


def _physical_lines(stream: IO[bytes], encoding: str) -> Iterator[str]:
    if not newline_is_one_byte(encoding):
        yield from io.TextIOWrapper(stream, encoding, newline="")
        return
    for line in stream:
        try:
            yield line.decode(encoding)
        except UnicodeDecodeError as error:
            raise _Undecodable(undecodable(line, encoding, error)) from None


def _raw(consumed: list[str]) -> str:
    return "".join(consumed)[:RAW_CHARACTERS]
