"""What every reader of a table relies on: its columns, its partitions, and a table format that they all know."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from deltalake import DeltaTable

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.schemas import PARTITIONS, READABLE, RETENTION, SCHEMAS
from benchcore.registry.tables import open_table

_READER_VERSION = 1

_FOREIGN = f"Something else than benchcore wrote to it. {RESTORE}"
_UPGRADE = "The next run that writes to it adds them."
_PROPERTIES = "`benchcore registry vacuum` sets their properties."


def readable(snapshot: Snapshot) -> Iterator[Finding]:
    """Compare every table's format, properties and columns with those of this release."""
    for name, error in snapshot.damaged.items():
        yield Finding("readable", "broken", name, error.what, 1, mend=error.mend or "")
    short = list[str]()
    for name, version in snapshot.versions.items():
        table = open_table(snapshot.registry, name, version)
        if table is None:
            continue
        yield from _format(name, table)
        yield from _columns(name, table)
        if any(table.metadata().configuration.get(key) != value for key, value in RETENTION.items()):
            short.append(name)
    if short:
        what = "tables let other engines remove what manifests pin"
        yield Finding(
            "retention", "notice", snapshot.registry.root, what, len(short), tuple(short[:EXAMPLES]), _PROPERTIES
        )


def _format(name: str, table: DeltaTable) -> Iterator[Finding]:
    reader, configured = table.protocol().min_reader_version, table.metadata().configuration
    wrong = [f"reader version {reader}"] if reader != _READER_VERSION else []
    wrong += [f"{key} = {configured[key]}" for key, value in READABLE.items() if configured.get(key, value) != value]
    if wrong:
        what = "properties of the table keep readers out, Ray's workers among them"
        yield Finding("readable", "broken", name, what, len(wrong), tuple(wrong), _FOREIGN)


def _columns(name: str, table: DeltaTable) -> Iterator[Finding]:
    wanted, stored = SCHEMAS[name], pa.schema(table.schema().to_arrow())
    missing = [column for column in wanted.names if column not in stored.names]
    strange = [column for column in stored.names if column not in wanted.names]
    other = [
        f"{field.name} is {field.type}, not {wanted.field(field.name).type}"
        for field in stored
        if field.name in wanted.names and field.type != wanted.field(field.name).type
    ]
    partitions, expected = table.metadata().partition_columns, list(PARTITIONS.get(name, ()))
    if partitions != expected:
        other.append(f"partitioned by {', '.join(partitions) or 'nothing'}, not by {', '.join(expected) or 'nothing'}")
    if other:
        yield Finding("schema", "broken", name, "columns are of another type", len(other), tuple(other), _FOREIGN)
    if missing:
        what = "columns are missing: an earlier release made the table"
        yield Finding("schema", "notice", name, what, len(missing), tuple(missing), _UPGRADE)
    if strange:
        what = "columns are unknown to this release"
        yield Finding(
            "schema", "notice", name, what, len(strange), tuple(strange), "A later release may have made them."
        )
