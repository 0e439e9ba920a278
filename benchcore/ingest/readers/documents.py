"""Files that are parsed whole: a JSON list, a JSON object keyed by id, one JSON record, a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchcore.errors import BenchcoreError
from benchcore.ingest.readers import json_text
from benchcore.ingest.readers.opening import DAMAGED, damaged, decompressed, open_bytes, undecodable, unreadable
from benchcore.ingest.readers.records import RAW_CHARACTERS, RawRecord, ReadUnit

_MANY = ("json-list", "json-object")


def read_document(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield the records of a file that is parsed whole.

    A file that is one record and cannot be parsed is a record with an error.

    Raises:
        BenchcoreError: the file, decompressed, is larger than `max_document_bytes`; or it holds many records and
            cannot be parsed, so that none of them is known.
    """
    try:
        data = _read(unit)
        text = data.decode(unit.encoding).removeprefix("\ufeff")
    except DAMAGED as error:
        raise unreadable(damaged(error), unit.path, 0) from None
    except UnicodeDecodeError as error:
        reason = undecodable(error.object, unit.encoding, error)
        if unit.format in _MANY:
            raise unreadable(reason, unit.path, 0) from None
        raw = error.object[:RAW_CHARACTERS].decode("utf-8", "backslashreplace")
        yield RawRecord(0, text=raw, error=reason)
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
        raise unreadable("the file is empty", unit.path, 0)
    try:
        value = json_text.parse(text, unique_keys=unit.format == "json-object")
    except json_text.NotJson as error:
        hint = " (JSON lines? then set format: json-lines)" if "Extra data" in str(error) else ""
        if unit.format in _MANY:
            raise unreadable(f"{error}{hint}", unit.path, 0) from None
        yield RawRecord(0, text=text[:RAW_CHARACTERS], error=f"{error}{hint}")
        return
    yield from _records(unit, value)


def _records(unit: ReadUnit, value: Any) -> Iterator[RawRecord]:
    if unit.format == "json":
        yield RawRecord(0, value)
    elif unit.format == "json-list" and isinstance(value, list):
        yield from (RawRecord(row, element) for row, element in enumerate(value))
    elif unit.format == "json-object" and isinstance(value, dict):
        yield from (RawRecord(row, element, key=key) for row, (key, element) in enumerate(value.items()))
    else:
        wanted = "a list" if unit.format == "json-list" else "an object keyed by id"
        found = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a single value"
        mend = "set format: json, with explode for a list inside it"
        raise unreadable(f"the file holds {found}, not {wanted} ({mend})", unit.path, 0)
