"""Reading tables at a pinned version and writing them so that doing it twice changes nothing (deltalake, no JVM)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError, TableNotFoundError

from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, PARTITIONS, PROPERTIES, SCHEMAS


def open_table(registry: Registry, name: str, version: int | None = None) -> DeltaTable | None:
    """Open a table, at a version if one is given; None when it does not exist yet.

    Raises:
        BenchcoreError: the table exists and the version does not.
    """
    try:
        return DeltaTable(registry.uri(name), version=version)
    except TableNotFoundError:
        return None
    except Exception as error:
        reason = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        pinned = f" at version {version}" if version is not None else ""
        mend = (
            "A version that vacuum removed cannot be read again; run the command anew to use the newest one."
            if version is not None
            else "Its _delta_log is damaged: bring it back from a copy, or start with another root."
        )
        raise BenchcoreError(
            f"table '{name}' cannot be read{pinned}: {reason}", where=registry.root, mend=mend
        ) from error


def current_version(registry: Registry, name: str) -> int | None:
    """Newest version of a table; None when it does not exist yet."""
    table = open_table(registry, name)
    return None if table is None else table.version()


def pin(registry: Registry, names: Sequence[str]) -> dict[str, int]:
    """Resolve the newest version of each existing table once, for a job to read at from then on."""
    versions = {name: current_version(registry, name) for name in names}
    return {name: version for name, version in versions.items() if version is not None}


def dataset(registry: Registry, name: str, version: int | None = None) -> ds.Dataset:
    """Open a table as an Arrow data set, for scans that must not hold it in memory; an absent table is empty."""
    table = open_table(registry, name, version)
    if table is None:
        return ds.dataset(SCHEMAS[name].empty_table())
    return table.to_pyarrow_dataset(filesystem=_native_filesystem(registry, name))


def _native_filesystem(registry: Registry, name: str) -> pafs.FileSystem | None:
    """Arrow's own file system for a local table; None lets deltalake bring its one.

    Deltalake's is written in Python: Arrow's reading threads can still hold its files when the interpreter ends, and
    then the process aborts after its work is done.
    """
    return pafs.SubTreeFileSystem(registry.uri(name), pafs.LocalFileSystem()) if registry.is_local else None


def read(
    registry: Registry,
    name: str,
    version: int | None = None,
    columns: Sequence[str] | None = None,
    where: pc.Expression | None = None,
) -> pa.Table:
    """Read rows of a table into memory, with the columns and types of its schema; an absent table is empty."""
    wanted = [SCHEMAS[name].field(column) for column in (columns or SCHEMAS[name].names)]
    stored = dataset(registry, name, version)
    there = [field.name for field in wanted if field.name in stored.schema.names]
    try:
        found = stored.to_table(columns=there, filter=where)
    except FileNotFoundError as error:
        raise missing_file(registry, name, error) from error
    for field in wanted:
        if field.name not in there:  # the table was written before it had this column
            found = found.append_column(field, pa.nulls(found.num_rows, field.type))
    return found.select([field.name for field in wanted]).cast(pa.schema(wanted))


def among(column: str, texts: Collection[str]) -> pc.Expression:
    """The rows whose text in a column is one of some, of which there may be none."""
    return pc.field(column).isin(pa.array(sorted(texts), pa.string()))


def missing_file(registry: Registry, name: str, error: FileNotFoundError) -> BenchcoreError:
    """The error for a table of which somebody removed a data file."""
    return BenchcoreError(
        f"table '{name}' lacks one of its data files ({str(error).splitlines()[0][:300]})",
        where=registry.root,
        mend="If vacuum took it from an older version, run the command again: it reads the newest. Else bring the file "
        "back from a copy; or remove the folder of a table that can be made again (embeddings, "
        "coresets, coreset_weights and manifests together) and run the command again.",
    )


def append_missing(registry: Registry, name: str, rows: pa.Table, among_those: pc.Expression | None = None) -> int:
    """Add the rows whose key the table lacks, in one commit; without any, no commit is made.

    The caller holds the registry's lock.

    Args:
        registry: where the table lies.
        name: of the table.
        rows: each key once.
        among_those: stored rows that may have such keys, where that is known: no others are read.

    Returns:
        How many rows were added.
    """
    keys = list(KEYS[name])
    rows = rows.select(SCHEMAS[name].names).cast(SCHEMAS[name])
    present = read(registry, name, columns=keys, where=among_those)
    missing = rows.append_column("_row", pa.array(range(rows.num_rows), pa.int64()))
    kept = missing.select([*keys, "_row"]).join(present, keys, join_type="left anti")["_row"]
    if len(kept) == 0:
        return 0
    _write(registry, name, rows.take(kept.sort()))
    return len(kept)


def replace_where(registry: Registry, name: str, column: str, value: str, rows: pa.Table) -> bool:
    """Make `rows` the only rows with `column` equal to `value`, in one commit; equal rows make none.

    The caller holds the registry's lock.

    Returns:
        Whether the table changed.
    """
    rows = rows.select(SCHEMAS[name].names).cast(SCHEMAS[name])
    order = [(key, "ascending") for key in KEYS[name]]
    present = read(registry, name, where=pc.field(column) == value)
    if present.sort_by(order).equals(rows.sort_by(order)):
        return False
    quoted = value.replace("'", "''")
    _write(registry, name, rows, predicate=f"{column} = '{quoted}'" if present.num_rows else None)
    return True


def upsert(registry: Registry, name: str, rows: pa.Table) -> None:
    """Add rows to a small table, each key once, replacing those whose key it has, in one commit; no rows make none.

    The table is written anew as a whole: what deltalake's own merge writes cannot be filtered through Arrow (1.6.6).
    The caller holds the registry's lock, and passes only rows that differ from what is stored.
    """
    if rows.num_rows == 0:
        return
    rows = rows.select(SCHEMAS[name].names).cast(SCHEMAS[name])
    if current_version(registry, name) is None:
        _write(registry, name, rows)
        return
    keys = list(KEYS[name])
    kept = read(registry, name).join(rows.select(keys), keys, join_type="left anti").select(SCHEMAS[name].names)
    whole = pa.concat_tables([kept, rows]).sort_by([(key, "ascending") for key in keys])
    with _writing(registry, name):
        write_deltalake(registry.uri(name), whole, mode="overwrite", schema_mode=_schema_mode(registry, name))


def _write(registry: Registry, name: str, rows: pa.Table, predicate: str | None = None) -> None:
    registry.require_writable()
    with _writing(registry, name):
        if predicate is not None:
            write_deltalake(registry.uri(name), rows, mode="overwrite", predicate=predicate)
            return
        write_deltalake(
            registry.uri(name),
            rows,
            mode="append",
            schema_mode=_schema_mode(registry, name),
            partition_by=list(PARTITIONS.get(name, ())) or None,
            configuration=dict(PROPERTIES),
        )


def _schema_mode(registry: Registry, name: str) -> Literal["merge"] | None:
    """How deltalake is to write a table that was made before it had all of its columns: it is given them."""
    table = open_table(registry, name)
    if table is None or set(SCHEMAS[name].names) <= {field.name for field in table.schema().fields}:
        return None
    return "merge"


@contextmanager
def _writing(registry: Registry, name: str) -> Iterator[None]:
    """Tell what keeps a table from being written, as a full disk does; a commit that failed is none."""
    try:
        yield
    except (DeltaError, OSError) as error:
        reason = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        raise BenchcoreError(
            f"table '{name}' cannot be written: {reason}",
            where=registry.root,
            mend="It is as it was. Run the command again when that is mended.",
        ) from error
