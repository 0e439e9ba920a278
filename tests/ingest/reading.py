"""Reading a file that a test has just written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchcore.ingest.readers import RawRecord, ReadUnit, read_records


def records_of(file: Path, content: bytes, format: str, **options: Any) -> list[RawRecord]:
    file.write_bytes(content)
    return list(read_records(ReadUnit(str(file), file.name, format, **options)))  # type: ignore[arg-type]


def values_of(file: Path, content: bytes, format: str, **options: Any) -> list[Any]:
    records = records_of(file, content, format, **options)
    assert [record.error for record in records if record.error is not None] == []
    return [record.value for record in records]
