"""What has to be read again, decided from digests before any engine starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from benchcore.ingest.files import SourceFile
from benchcore.registry.schemas import KEYS, SCHEMAS

Row = dict[str, Any]  # of the table `sources`


@dataclass(frozen=True)
class Changes:
    """What one run has to do.

    Attributes:
        benchmarks: the benchmarks of which any file is new, changed, mapped otherwise or gone.
        files: all current files of those benchmarks: they are read again together.
        declared: the benchmarks that the configuration has files of; what they hold is defined by it alone.
        sources: the sources of the configuration; files of others are left alone, unless their benchmark is declared.
        known: rows of `sources` that are in scope, superseded ones included.
        unread: current rows of `sources` of the benchmarks that did not change.
    """

    benchmarks: frozenset[str]
    files: tuple[SourceFile, ...]
    declared: frozenset[str]
    sources: frozenset[str]
    known: tuple[Row, ...]
    unread: tuple[Row, ...]


def find_changes(files: Sequence[SourceFile], sources: Iterable[str], table: pa.Table) -> Changes:
    """Compare the files that are there with those that were read last.

    Args:
        files: all files of the configuration.
        sources: names of all of its sources.
        table: the table `sources` as it is.
    """
    declared, named = frozenset(file.benchmark for file in files), frozenset(sources)
    known = [row for row in table.to_pylist() if row["source"] in named or row["benchmark"] in declared]
    now: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
    for file in files:
        now[file.benchmark].add(_signature(vars(file)))
    before: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
    for row in known:
        if row["superseded_by"] is None:
            before[row["benchmark"]].add(_signature(row))
    changed = frozenset(name for name in now.keys() | before.keys() if now[name] != before[name])
    current = (row for row in known if row["superseded_by"] is None)
    return Changes(
        benchmarks=changed,
        files=tuple(file for file in files if file.benchmark in changed),
        declared=declared,
        sources=named,
        known=tuple(known),
        unread=tuple(row for row in current if row["benchmark"] not in changed),
    )


def _signature(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*KEYS["sources"], "licence", "revision"))


def sources_rows(changes: Changes, counts: dict[tuple[str, str], Row], run_id: str) -> pa.Table:
    """The rows of `sources` that a run adds or changes; those that would stay as they are are left out.

    Args:
        changes: what was read.
        counts: rows_read, rows_kept, rows_duplicate, rows_quarantined of each file read, by (source, path).
        run_id: of this run.
    """
    key = KEYS["sources"]
    stored = {tuple(row[name] for name in key): row for row in changes.known}
    current: dict[tuple[Any, ...], Row] = {}
    for file in changes.files:
        row = {name: getattr(file, name, None) for name in SCHEMAS["sources"].names} | counts[file.source, file.path]
        current[tuple(row[name] for name in key)] = row
    written = []
    for identity, row in current.items():
        before = stored.get(identity)
        if before is None or {**before, "run_id": None} != row:
            written.append(row | {"run_id": run_id})
    for identity, row in stored.items():
        if row["superseded_by"] is None and row["benchmark"] in changes.benchmarks and identity not in current:
            written.append(row | {"superseded_by": run_id})
    return pa.Table.from_pylist(written, schema=SCHEMAS["sources"])
