"""Reading tables at a pinned version and writing them so that doing it twice changes nothing (deltalake, no JVM)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError, TableNotFoundError

from benchcore.errors import BenchcoreError
from benchcore.registry.lease import require
from benchcore.registry.object_store import arrow_folder
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, PARTITIONS, PROPERTIES, SCHEMAS

# Whoever holds the lock is the only writer: where another commit has come between, the lock was lost.
NO_RETRIES = CommitProperties(max_commit_retries=0)
_DRAWING = re.compile("\x1b\\[[0-9;]*m|\u21b3")


def open_table(registry: Registry, name: str, version: int | None = None) -> DeltaTable | None:
    """Open a table, at a version if one is given; None when it does not exist yet.

    Raises:
        BenchcoreError: the table exists and the version does not.
    """
    try:
        return DeltaTable(registry.uri(name), version=version, storage_options=registry.delta_options())
    except TableNotFoundError:
        return None
    except Exception as error:
        pinned = f" at version {version}" if version is not None else ""
        raise BenchcoreError(
            f"table '{name}' cannot be read{pinned}: {_reason(error)}", registry.root, _mend(registry, version, error)
        ) from error


def _mend(registry: Registry, version: int | None, error: Exception) -> str:
    if not registry.is_local and isinstance(error, OSError):
        return "The object store did not answer as it should; run the command again when it does."
    if version is not None:
        return "A version that vacuum removed cannot be read again; run the command anew to use the newest one."
    return "Its _delta_log is damaged: bring it back from a copy, or start with another root."


def _reason(error: Exception) -> str:
    """What deltalake says, in one line: of an object store it draws a tree in colours, of a defect all calls."""
    said = " ".join(_DRAWING.sub(" ", str(error)).split()).partition(" 0: ")[0]
    return said[:300] or type(error).__name__


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
    """Arrow's own file system for a table, where it has one; None lets deltalake bring its one.

    Deltalake's is written in Python: Arrow's reading threads can still hold its files when the interpreter ends, and
    then the process aborts after its work is done.
    """
    if registry.is_local:
        return pafs.SubTreeFileSystem(registry.uri(name), pafs.LocalFileSystem())
    return arrow_folder(registry.uri(name))


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
    with whole_files(registry, name):
        found = stored.to_table(columns=there, filter=where)
    for field in wanted:
        if field.name not in there:  # the table was written before it had this column
            found = found.append_column(field, pa.nulls(found.num_rows, field.type))
    return found.select([field.name for field in wanted]).cast(pa.schema(wanted))


def among(column: str, texts: Collection[str]) -> pc.Expression:
    """The rows whose text in a column is one of some, of which there may be none."""
    return pc.field(column).isin(pa.array(sorted(texts), pa.string()))


@contextmanager
def whole_files(registry: Registry, name: str) -> Iterator[None]:
    """Tell in one line of a data file that is gone or cut short.

    Raises:
        BenchcoreError: the block met one.
    """
    again = (
        "bring the file back from a copy; or remove the folder of a table that can be made again (embeddings, "
        "coresets, coreset_weights and manifests together) and run the command again."
    )
    try:
        yield
    except FileNotFoundError as error:
        mend = f"If vacuum took it from an older version, run the command again: it reads the newest. Else {again}"
        what = f"table '{name}' lacks one of its data files ({str(error).splitlines()[0][:300]})"
        raise BenchcoreError(what, registry.root, mend) from error
    except pa.ArrowInvalid as error:
        if "Parquet" not in str(error):
            raise
        what = f"table '{name}' has a damaged data file ({str(error).splitlines()[0][:300]})"
        raise BenchcoreError(what, registry.root, f"B{again[1:]}") from error


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
    table = open_table(registry, name)
    present = read(registry, name, _version(table), columns=keys, where=among_those)
    missing = rows.append_column("_row", pa.array(range(rows.num_rows), pa.int64()))
    kept = missing.select([*keys, "_row"]).join(present, keys, join_type="left anti")["_row"]
    if len(kept) == 0:
        return 0
    commit(registry, name, table, rows.take(kept.sort()))
    return len(kept)


def replace_where(registry: Registry, name: str, column: str, value: str, rows: pa.Table) -> bool:
    """Make `rows` the only rows with `column` equal to `value`, in one commit; equal rows make none.

    The caller holds the registry's lock.

    Returns:
        Whether the table changed.
    """
    rows = rows.select(SCHEMAS[name].names).cast(SCHEMAS[name])
    order = [(key, "ascending") for key in KEYS[name]]
    table = open_table(registry, name)
    present = read(registry, name, _version(table), where=pc.field(column) == value)
    if present.sort_by(order).equals(rows.sort_by(order)):
        return False
    quoted = value.replace("'", "''")
    how: dict[str, Any] = {"mode": "overwrite", "predicate": f"{column} = '{quoted}'"} if present.num_rows else {}
    commit(registry, name, table, rows, **how)
    return True


def upsert(registry: Registry, name: str, rows: pa.Table) -> None:
    """Add rows to a small table, each key once, replacing those whose key it has, in one commit; no rows make none.

    The table is written anew as a whole: what deltalake's own merge writes cannot be filtered through Arrow (1.6.6).
    The caller holds the registry's lock, and passes only rows that differ from what is stored.
    """
    if rows.num_rows == 0:
        return
    rows = rows.select(SCHEMAS[name].names).cast(SCHEMAS[name])
    table = open_table(registry, name)
    if table is None:
        commit(registry, name, None, rows)
        return
    keys = list(KEYS[name])
    present = read(registry, name, table.version())
    kept = present.join(rows.select(keys), keys, join_type="left anti").select(SCHEMAS[name].names)
    whole = pa.concat_tables([kept, rows]).sort_by([(key, "ascending") for key in keys])
    commit(registry, name, table, whole, mode="overwrite")


def commit(
    registry: Registry, name: str, table: DeltaTable | None, rows: pa.Table | pa.RecordBatchReader, **how: Any
) -> None:
    """Write rows in one commit, on top of a table as it was opened; where there was none, one is made.

    The lock is asked for after the table was opened, and a table that has changed since is not written: so a writer
    that stood still, and whose lock was taken over, adds nothing to what it has not seen.

    Args:
        registry: as `lock.writer_lock` gave it.
        name: of the table.
        table: as `open_table` gave it.
        rows: with all columns of the schema.
        how: further arguments of `write_deltalake`; it appends unless they say otherwise.

    Raises:
        BenchcoreError: the lock was lost, the table has changed, or it cannot be written; it is as it was.
    """
    registry.require_writable()
    require(registry)
    with writing(registry, name):
        if table is None:
            write_deltalake(
                registry.uri(name),
                rows,
                **(how | {"mode": "error"}),
                partition_by=list(PARTITIONS.get(name, ())) or None,
                configuration=dict(PROPERTIES),
                storage_options=registry.delta_options(),
            )
            return
        options = {"mode": "append", **how}
        if "predicate" not in options:
            options["schema_mode"] = _schema_mode(table, name)
        write_deltalake(table, rows, **options, commit_properties=NO_RETRIES)


def _version(table: DeltaTable | None) -> int | None:
    return None if table is None else table.version()


def _schema_mode(table: DeltaTable, name: str) -> Literal["merge"] | None:
    """How deltalake is to write a table that was made before it had all of its columns: it is given them."""
    there = {field.name for field in table.schema().fields}
    return None if set(SCHEMAS[name].names) <= there else "merge"


@contextmanager
def writing(registry: Registry, name: str) -> Iterator[None]:
    """Tell what keeps a table from being written, as a full disk does; a commit that failed is none."""
    try:
        yield
    except (DeltaError, OSError) as error:
        raise BenchcoreError(
            f"table '{name}' cannot be written: {_reason(error)}",
            where=registry.root,
            mend="It is as it was. Run the command again when that is mended.",
        ) from error
