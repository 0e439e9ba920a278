"""JSON lines, whatever the file's ending; whole or in parts."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import IO

from benchcore.config import SourceSpec
from benchcore.ingest.readers import json_text
from benchcore.ingest.readers.opening import (
    DAMAGED,
    damaged,
    decompressed,
    is_compressed,
    newline_is_one_byte,
    open_bytes,
    undecodable,
    unreadable,
)
from benchcore.ingest.readers.records import RAW_CHARACTERS, RawRecord, ReadUnit

NEWLINE = b"\n"  # the only line end: U+2028, U+0085 and a lone CR stand inside JSON strings


def read_lines(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield one record a line; blank lines are no records but count as lines.

    Raises:
        BenchcoreError: the file cannot be decompressed or, in an encoding of several bytes, decoded to its end.
    """
    with open_bytes(unit.uri, unit.path) as stream:
        if not newline_is_one_byte(unit.encoding):
            yield from _decoded_lines(decompressed(stream), unit)
            return
        if unit.length is None:
            yield from _byte_lines(decompressed(stream), unit)
            return
        stream.seek(unit.start)
        yield from _byte_lines(stream, unit)


def splittable(spec: SourceSpec, head: bytes) -> bool:
    """Say whether a file may be read in parts; `head` is its first bytes (4 are enough).

    True for uncompressed JSON lines in an encoding where a newline is one byte, and no `explode` (whose running
    numbers need the whole file).
    """
    whole = spec.format != "json-lines" or spec.explode is not None or is_compressed(head)
    return not whole and newline_is_one_byte(spec.encoding)


def line_splits(chunks: Iterable[bytes], split_bytes: int) -> list[tuple[int, int, int]]:
    """Cut a JSON-lines file at line ends into parts of at least `split_bytes`, while its bytes pass by.

    Args:
        chunks: the file's bytes in order, in pieces of any size (a generator may hash them on the way).
        split_bytes: a part ends at the first line end at or after this many bytes.

    Returns:
        (start, length, first_row) of each part, at least one; together they cover the file.
    """
    parts: list[tuple[int, int, int]] = []
    start = first_row = lines = position = 0  # position: of the chunk in the file; lines: ended before `scanned`
    for chunk in chunks:
        scanned = 0
        while True:
            end = chunk.find(NEWLINE, max(scanned, start + split_bytes - 1 - position))
            if end < 0:
                break
            lines += chunk.count(NEWLINE, scanned, end + 1)
            scanned = end + 1
            parts.append((start, position + scanned - start, first_row))
            start, first_row = position + scanned, lines
        lines += chunk.count(NEWLINE, scanned)
        position += len(chunk)
    if position > start or not parts:
        parts.append((start, position - start, first_row))
    return parts


def _byte_lines(stream: IO[bytes], unit: ReadUnit) -> Iterator[RawRecord]:
    row, left, limit = unit.first_row, unit.length, unit.max_document_bytes
    while left is None or left > 0:
        try:
            line = stream.readline(limit + 1)
            too_long = len(line) > limit and not line.endswith(NEWLINE)
            size = len(line) + (_skip_line(stream) if too_long else 0)
        except DAMAGED as error:
            raise unreadable(damaged(error), unit.path, row) from None
        if not line:
            return
        left = None if left is None else left - size
        record = _too_long(row, line, limit) if too_long else _parse_bytes(row, line, unit)
        if record is not None:
            yield record
        row += 1


def _skip_line(stream: IO[bytes]) -> int:
    skipped = 0
    while piece := stream.readline(1 << 20):
        skipped += len(piece)
        if piece.endswith(NEWLINE):
            break
    return skipped


def _too_long(row: int, line: bytes, limit: int) -> RawRecord:
    text = line[:RAW_CHARACTERS].decode("utf-8", "backslashreplace")
    return RawRecord(row, text=text, error=f"the line is longer than {limit} bytes (ingest.max_document_bytes)")


def _parse_bytes(row: int, line: bytes, unit: ReadUnit) -> RawRecord | None:
    try:
        text = line.decode(unit.encoding)
    except UnicodeDecodeError as error:
        raw = line[:RAW_CHARACTERS].decode("utf-8", "backslashreplace")
        return RawRecord(row, text=raw, error=undecodable(line, unit.encoding, error))
    return _parse(row, text)


def _decoded_lines(stream: IO[bytes], unit: ReadUnit) -> Iterator[RawRecord]:
    reader = io.TextIOWrapper(stream, unit.encoding, newline="\n")
    row = unit.first_row
    try:
        while line := reader.readline(unit.max_document_bytes):
            if (record := _parse(row, line)) is not None:
                yield record
            row += 1
    except UnicodeError as error:
        raise unreadable(f"not {unit.encoding}: {error}", unit.path, row) from None
    except DAMAGED as error:
        raise unreadable(damaged(error), unit.path, row) from None


def _parse(row: int, line: str) -> RawRecord | None:
    text = (line.removeprefix("\ufeff") if row == 0 else line).strip(" \t\r\n")
    if not text:
        return None
    try:
        return RawRecord(row, json_text.parse(text), text=text)
    except json_text.NotJson as error:
        hint = " (a JSON list? then set format: json-list)" if row == 0 and text.startswith("[") else ""
        return RawRecord(row, text=text, error=f"{error}{hint}")
