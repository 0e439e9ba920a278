"""Files that are parsed whole: a JSON list, a JSON object keyed by id, one JSON record, a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchcore.errors import BenchcoreError
from benchcore.ingest.readers import json_text
from benchcore.ingest.readers.opening import DAMAGED, damaged, decompressed, open_bytes, undecodable
from benchcore.ingest.readers.records import RAW_CHARACTERS, RawRecord, ReadUnit


def read_document(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield the records of a file that is parsed whole; a file that cannot be is one record with an error.

    Raises:
        BenchcoreError: the file, decompressed, is larger than `max_document_bytes`.
    """
    try:
        data = _read(unit)
    except DAMAGED as error:
        yield RawRecord(0, text="", error=damaged(error))
        return
    try:
        text = data.decode(unit.encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raw = data[:RAW_CHARACTERS].decode("utf-8", "backslashreplace")
        yield RawRecord(0, text=raw, error=undecodable(data, unit.encoding, error))
        return
    yield from [RawRecord(0, {"text": text}, text=text)] if unit.format == "text" else _json_records(unit, text)


def too_large(path: str, limit: int) -> BenchcoreError:
    """The error for a file that must be parsed whole and is larger than `limit` bytes."""
    return BenchcoreError(
        f"is larger than {limit} bytes, the most that is parsed whole",
        where=path,
        mend=f"Convert it to JSON lines (jq -c '.[]' {path} > lines.jsonl), which have no limit, or raise "
        "ingest.max_document_bytes; a worker needs about ten times that much memory.",
    )


def _read(unit: ReadUnit) -> bytes:
    with open_bytes(unit.uri, unit.path) as stream:
        data = decompressed(stream).read(unit.max_document_bytes + 1)
    if len(data) > unit.max_document_bytes:
        raise too_large(unit.path, unit.max_document_bytes)
    return data


def _json_records(unit: ReadUnit, text: str) -> Iterator[RawRecord]:
    if not text.strip():
        yield RawRecord(0, text="", error="the file is empty")
        return
    try:
        value = json_text.parse(text)
    except json_text.NotJson as error:
        hint = " (JSON lines? then set format: json-lines)" if "Extra data" in str(error) else ""
        yield RawRecord(0, text=text[:RAW_CHARACTERS], error=f"{error}{hint}")
        return
    yield from _records(unit.format, value)


def _records(format: str, value: Any) -> Iterator[RawRecord]:
    if format == "json":
        yield RawRecord(0, value)
    elif format == "json-list" and isinstance(value, list):
        yield from (RawRecord(row, element) for row, element in enumerate(value))
    elif format == "json-object" and isinstance(value, dict):
        yield from (RawRecord(row, element, key=key) for row, (key, element) in enumerate(value.items()))
    else:
        wanted = "a list" if format == "json-list" else "an object keyed by id"
        found = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a single value"
        mend = "set format: json, with explode for a list inside it"
        yield RawRecord(0, value, error=f"the file holds {found}, not {wanted} ({mend})")
