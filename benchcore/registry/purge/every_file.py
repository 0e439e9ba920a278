"""Reading all data files of a table, whichever version they are of, and those that no version has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchcore.errors import BenchcoreError
from benchcore.registry.pins import stored_files
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS

_ROWS = 4096  # prompts can be long


def rows_of_files(
    registry: Registry, name: str, columns: Sequence[str], where: pc.Expression, files: Iterable[str] | None = None
) -> Iterator[tuple[str, pa.Table]]:
    """The rows that are looked for, a batch at a time, each time with the file that holds them.

    Args:
        registry: where the table lies.
        name: of the table.
        columns: that are wanted, and that `where` asks for; one that a file lacks is null.
        where: which rows.
        files: relative to the table's folder; default: all.

    Raises:
        BenchcoreError: a file cannot be read: what it holds is not known.
    """
    filesystem, schema = registry.filesystem(), pa.schema([SCHEMAS[name].field(column) for column in columns])
    for file in sorted(stored_files(registry, name) if files is None else files):
        path = f"{registry.uri(name)}/{file}"
        try:
            with filesystem.open(path, "rb") as stream:
                for batch in _batches(pq.ParquetFile(stream), schema):
                    found = batch.filter(where)
                    if found.num_rows:
                        yield file, found
        except (OSError, pa.ArrowException) as error:
            raise BenchcoreError(
                f"cannot be read ({str(error).splitlines()[0][:200]}): what it holds is not known, nothing was purged",
                where=path,
                mend="Bring it back from a copy; or remove it, if `benchcore registry check` then misses nothing.",
            ) from error


def _batches(file: pq.ParquetFile, schema: pa.Schema) -> Iterator[pa.Table]:
    """Some columns, with the types of the registry's schema."""
    there = [name for name in schema.names if name in file.schema_arrow.names]
    for batch in file.iter_batches(_ROWS, columns=there, use_threads=False):
        rows = pa.Table.from_batches([batch])
        for field in schema:
            if field.name not in there:
                rows = rows.append_column(field, pa.nulls(len(batch), field.type))
        yield rows.select(schema.names).cast(schema)
