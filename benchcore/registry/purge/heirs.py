"""Copies of a prompt that goes: the smallest of them stands for the others from then on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.registry.root import Registry
from benchcore.registry.tables import among, read


def heirs(registry: Registry, doomed: Mapping[str, str]) -> dict[str, str | None]:
    """What the copies of some prompts repeat, once those are gone.

    Marks across benchmarks, which are no more than marks, are dropped; the next ingestion that reads something finds
    again what another benchmark shows.

    Args:
        registry: before they go.
        doomed: prompt that goes -> its benchmark.

    Returns:
        Prompt that stays -> its new `duplicate_of`.
    """
    columns = ("prompt_id", "benchmark", "duplicate_of", "retired_at")
    rows = read(registry, "prompts", columns=columns, where=among("duplicate_of", doomed)).to_pylist()
    copies: dict[str, list[str]] = defaultdict(list)
    found = dict[str, str | None]()
    for row in rows:
        if row["prompt_id"] in doomed:
            continue
        found[row["prompt_id"]] = None
        if row["retired_at"] is None and row["benchmark"] == doomed[row["duplicate_of"]]:
            copies[row["duplicate_of"]].append(row["prompt_id"])
    for group in copies.values():
        first = min(group)
        found |= {copy: first for copy in group if copy != first}
    return found


def with_heirs(rows: pa.Table, found: Mapping[str, str | None]) -> pa.Table:
    """Rows of `prompts` with their new `duplicate_of`."""
    if not found:
        return rows
    places = pc.index_in(rows["prompt_id"], value_set=pa.array(list(found), pa.string()))
    new = pa.array(list(found.values()), pa.string()).take(places.combine_chunks())
    marks = pc.if_else(places.is_valid(), new, rows["duplicate_of"])
    return rows.set_column(rows.column_names.index("duplicate_of"), "duplicate_of", marks)
