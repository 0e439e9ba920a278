"""Which fields would tell rows apart whose declared ids collide."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from benchcore.config import SourceSpec
from benchcore.ingest.files import SourceFile
from benchcore.ingest.readers import ReadUnit, read_records

_MAPPED = ("language", "task", "split")  # an id template may use them by these names
_LONGEST = 64  # a longer field is a text, no part of an id
_MOST_FIELDS = 3

Row = Mapping[str, Any]


def separating_fields(
    rows: Sequence[Row], specs: Mapping[str, SourceSpec], files: Mapping[tuple[str, str], SourceFile], limit: int
) -> list[str]:
    """Find the fewest, shortest fields that differ wherever rows of one identity differ in content.

    Args:
        rows: source, path, source_row, identity, content_hash and the mapped language, task and split.
        specs: the sources by name.
        files: the files by (source, path); those that `rows` name are read again for their records' fields.
        limit: largest file that is parsed whole.

    Returns:
        Names as an id template would use them; empty if none to three fields separate the rows.
    """
    described = [_mapped(row) | fields for row, fields in _with_fields(rows, specs, files, limit)]
    ordered = _candidates(described)
    for count in range(1, _MOST_FIELDS + 1):
        for names in itertools.combinations(ordered, count):
            if _separate(names, rows, described):
                return list(names)
    return []


def _mapped(row: Row) -> dict[str, str]:
    path = PurePosixPath(row["path"])
    return {name: row[name] for name in _MAPPED if row[name]} | {"path.name": path.name, "path": str(path)}


def _with_fields(
    rows: Sequence[Row], specs: Mapping[str, SourceSpec], files: Mapping[tuple[str, str], SourceFile], limit: int
) -> Iterator[tuple[Row, dict[str, str]]]:
    wanted: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        wanted.setdefault((row["source"], row["path"]), set()).add(row["source_row"])
    fields = {place: _fields(specs[place[0]], files[place], numbers, limit) for place, numbers in wanted.items()}
    for row in rows:
        yield row, fields[row["source"], row["path"]].get(row["source_row"], {})


def _fields(spec: SourceSpec, file: SourceFile, numbers: set[int], limit: int) -> dict[int, dict[str, str]]:
    """The short top-level fields of some records of a file; none of examples that a record explodes into."""
    found: dict[int, dict[str, str]] = {}
    if spec.explode is not None:
        return found
    for record in read_records(ReadUnit.of(spec, file.uri, file.path, limit)):
        if record.row in numbers and isinstance(record.value, dict):
            found[record.row] = {
                name: str(value)
                for name, value in record.value.items()
                if name.isidentifier() and isinstance(value, str | int | float) and len(str(value)) <= _LONGEST
            }
        if record.row >= max(numbers):
            break
    return found


def _candidates(described: Sequence[Mapping[str, str]]) -> list[str]:
    """Fields that all rows have: what the mapping names first, then the shortest; the file's name and path last."""
    names = set(described[0]).intersection(*described[1:]) if described else set()

    def rank(name: str) -> tuple[bool, bool, bool, float, str]:
        length = sum(len(row[name]) for row in described) / len(described)
        return name == "path", name == "path.name", name not in _MAPPED, length, name

    return sorted(names, key=rank)


def _separate(names: Sequence[str], rows: Sequence[Row], described: Sequence[Mapping[str, str]]) -> bool:
    contents: dict[tuple[str, ...], str] = {}
    for row, fields in zip(rows, described, strict=True):
        key = (row["identity"], *(fields[name] for name in names))
        if contents.setdefault(key, row["content_hash"]) != row["content_hash"]:
            return False
    return True
