"""Writing a table anew as a whole, a batch at a time: what it no longer holds is gone from its newest version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import commit, dataset, open_table

_ROWS = 4096  # prompts can be long


def rewrite(
    registry: Registry,
    name: str,
    change: Callable[[pa.Table], pa.Table],
    within: tuple[str, Sequence[int]] | None = None,
    **how: Any,
) -> None:
    """Write what becomes of the rows of a table, in one commit.

    Deltalake's own `delete` and `merge` are not used: what they write cannot be filtered through Arrow (1.6.6).
    The caller holds the registry's lock.

    Args:
        registry: as `lock.writer_lock` gave it.
        name: of a table that exists.
        change: what becomes of some of its rows; it is given all of them, in any order.
        within: a column by which the table is partitioned, and the values whose rows are written anew; others stay.
        how: further arguments of `write_deltalake`.

    Raises:
        BenchcoreError: as `tables.commit`.
    """
    table, schema = open_table(registry, name), SCHEMAS[name]
    if table is None:
        return
    stored = dataset(registry, name, table.version())
    there = [column for column in schema.names if column in stored.schema.names]

    where = None if within is None else pc.field(within[0]).isin(list(within[1]))

    def changed() -> Iterator[pa.RecordBatch]:
        for batch in stored.to_batches(
            columns=there, filter=where, batch_size=_ROWS, batch_readahead=2, fragment_readahead=1
        ):
            yield from change(_whole(batch, schema)).cast(schema).to_batches()

    rows = pa.RecordBatchReader.from_batches(schema, changed())
    if within is not None:
        how["predicate"] = f"{within[0]} IN ({', '.join(map(str, within[1]))})"
    commit(registry, name, table, rows, mode="overwrite", **how)


def _whole(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """With all columns: those that an older release did not write are null."""
    rows = pa.Table.from_batches([batch])
    for field in schema:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(len(batch), field.type))
    return rows.select(schema.names)
