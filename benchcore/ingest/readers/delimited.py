"""CSV and TSV, with and without header, with newlines inside quoted fields."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import IO, Any

from benchcore.ingest.readers.opening import (
    DAMAGED,
    damaged,
    decompressed,
    newline_is_one_byte,
    open_bytes,
    undecodable,
    unreadable,
)
from benchcore.ingest.readers.records import RawRecord, ReadUnit, raw_text

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_OPEN_QUOTE = "unexpected end of data"  # what the csv module says of it
_ESCAPED = re.compile("[\udc80-\udcff]")  # how Python keeps a byte that is no text, until it is looked at


def read_delimited(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield one record a row, as a mapping from column to text.

    A row with too few or too many fields, with a stray quote, or with bytes that are no text is a record with an error.

    Raises:
        BenchcoreError: a quote stays open to the file's end, or the file cannot be decompressed or decoded further.
    """
    csv.field_size_limit(unit.max_document_bytes)
    with open_bytes(unit.uri, unit.path) as stream:
        consumed: list[str] = []
        reader = csv.reader(
            _lines(decompressed(stream), unit, consumed),
            delimiter=unit.delimiter or _DELIMITERS[unit.format],
            quoting=csv.QUOTE_MINIMAL if unit.quotes else csv.QUOTE_NONE,
            strict=True,
        )
        columns = unit.columns
        try:
            if unit.header:
                header, problem = _next(reader, consumed, unit.encoding)
                if header is None or problem:
                    raise unreadable(f"its header: {problem or 'the file is empty'}", unit.path, 0)
                columns = columns or tuple(header)
            yield from _rows(reader, consumed, columns or (), unit)
        except UnicodeError as error:
            raise unreadable(f"not {unit.encoding}: {error}", unit.path, 0) from None
        except DAMAGED as error:
            raise unreadable(damaged(error), unit.path, 0) from None


def _rows(
    reader: Iterator[list[str]], consumed: list[str], columns: tuple[str, ...], unit: ReadUnit
) -> Iterator[RawRecord]:
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise unreadable(f"the header names column '{twice[0]}' twice", unit.path, 0)
    row = 0
    while True:
        fields, problem = _next(reader, consumed, unit.encoding)
        if fields is None and problem is None:
            return
        if problem == _OPEN_QUOTE:
            raise unreadable(
                "a quote that opens here is never closed (set quotes: false if quotes mean nothing)", unit.path, row
            )
        if fields is not None and len(fields) != len(columns):
            problem = f"the row has {len(fields)} fields, not {len(columns)} (a stray quote or delimiter?)"
        value = None if problem or fields is None else dict(zip(columns, fields, strict=True))
        yield RawRecord(row, value, text=_raw(consumed), error=problem)
        row += 1


def _next(reader: Iterator[list[str]], consumed: list[str], encoding: str) -> tuple[list[str] | None, str | None]:
    """The next row that is not blank, or what is wrong with it; (None, None) at the end."""
    while True:
        consumed.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return None, None
        except csv.Error as error:
            if _OPEN_QUOTE in str(error):
                return None, _OPEN_QUOTE
            return None, f"not a row: {error} (a quote inside a field is written twice, or set quotes: false)"
        if fields:
            return fields, _not_text(consumed, encoding)


def _not_text(consumed: list[str], encoding: str) -> str | None:
    """Why the lines of a row are no text in the declared encoding; None where they are."""
    for line in consumed:
        if _ESCAPED.search(line):
            data = line.encode(encoding, "surrogateescape")
            try:
                data.decode(encoding)
            except UnicodeDecodeError as error:
                return undecodable(data, encoding, error)
    return None


def _lines(stream: IO[bytes], unit: ReadUnit, consumed: list[str]) -> Iterator[str]:
    """Decode line by line, a wrong byte escaped until its row is looked at; notes what it has given in `consumed`."""
    first = True
    for line in _physical_lines(stream, unit):
        text = line.removeprefix("\ufeff") if first else line
        first = False
        consumed.append(text)
        yield text


def _physical_lines(stream: IO[bytes], unit: ReadUnit) -> Iterator[str]:
    """Lines up to a length: a compressed file of a few kilobytes can hold one of many gigabytes."""
    limit = unit.max_document_bytes
    one_byte = newline_is_one_byte(unit.encoding)
    lines: IO[Any] = stream if one_byte else io.TextIOWrapper(stream, unit.encoding, newline="")
    while line := lines.readline(limit + 1):
        if len(line) > limit:
            what = f"a line is longer than {limit} {'bytes' if one_byte else 'characters'} (ingest.max_document_bytes)"
            raise unreadable(what, unit.path, 0)
        yield line.decode(unit.encoding, "surrogateescape") if isinstance(line, bytes) else line


def _raw(consumed: list[str]) -> str:
    return raw_text("".join(consumed))
