"""What the tables of a registry say, in a form that two runs can be compared by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, SCHEMAS
from benchcore.registry.tables import current_version, read

# Who wrote a row and when may differ between an undisturbed run and one that was killed; nothing else may.
_BY_RUN = {"run_id", "first_run", "timings", "plan", "table_versions", "superseded_by"}


def contents(root: Path | str) -> dict[str, list[dict[str, Any]]]:
    """Rows of every table but `runs`, sorted by key, without what names a run."""
    registry = Registry.at(root)
    return {name: _rows(registry, name) for name in SCHEMAS if name != "runs"}


def _rows(registry: Registry, name: str) -> list[dict[str, Any]]:
    table = read(registry, name).sort_by([(key, "ascending") for key in KEYS[name]])
    if "retired_at" in table.column_names:
        retired = pc.is_valid(table["retired_at"])
        table = table.drop_columns("retired_at").append_column("retired", retired)
    rows = table.drop_columns([column for column in table.column_names if column in _BY_RUN])
    assert rows.num_rows == _distinct_keys(table, name), f"{name} holds a key twice"
    return rows.to_pylist()


def _distinct_keys(table: pa.Table, name: str) -> int:
    return table.group_by(list(KEYS[name])).aggregate([]).num_rows


def versions(root: Path | str) -> dict[str, int | None]:
    """Newest version of every table."""
    registry = Registry.at(root)
    return {name: current_version(registry, name) for name in SCHEMAS}


def check_accounting(root: Path | str) -> None:
    """Every row that was read is kept, a duplicate, or quarantined."""
    current = [row for row in read(Registry.at(root), "sources").to_pylist() if row["superseded_by"] is None]
    assert current
    for row in current:
        parts = (row["rows_kept"], row["rows_duplicate"], row["rows_quarantined"])
        assert sum(parts) == row["rows_read"], row
    prompts = read(Registry.at(root), "prompts").to_pylist()
    quarantined = read(Registry.at(root), "quarantine").num_rows
    live = [row for row in prompts if row["retired_at"] is None]
    assert len(live) == sum(row["rows_kept"] + row["rows_duplicate"] for row in current)
    assert quarantined == sum(row["rows_quarantined"] for row in current)
