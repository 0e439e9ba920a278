"""Accounts of what was read: every row is kept, kept as a duplicate, or quarantined with its reason."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.errors import BenchcoreError
from benchcore.ingest.columns import ERROR, PROMPT, QUARANTINE, REPEAT
from benchcore.ingest.reading import unpack_error
from benchcore.registry.root import Registry
from benchcore.registry.tables import read as read_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNTS = ("rows_read", "rows_kept", "rows_duplicate", "rows_quarantined")
_EXAMPLES = 5  # names that a warning spells out
Place = tuple[str, str]  # source, path
Account = dict[str, int]


@dataclass(frozen=True)
class FileCount:
    """What reading one file gave: prompts and quarantined rows, and how many rows its reader says it read.

    `repeats` are documents of a log that another file of its source holds too.
    """

    prompts: int
    repeats: int
    quarantined: int
    rows_read: int
    first_reason: tuple[int, str] | None  # row and reason of the first quarantined row
    error: tuple[int, str, str] | None  # row, what is wrong, and the rest as `reading` packed it


def count_files(read: DataFrame) -> dict[Place, FileCount]:
    """Count what was read, by file; all that comes to the driver is a line a file."""
    from pyspark.sql import functions as F

    reason = F.when(read.kind == QUARANTINE, F.struct("source_row", "reason"))
    error = F.when(read.kind == ERROR, F.struct("source_row", "reason", "raw"))
    counted = read.groupBy("source", "path").agg(
        F.count_if(read.kind == PROMPT).alias("prompts"),
        F.count_if(read.kind == REPEAT).alias("repeats"),
        F.count_if(read.kind == QUARANTINE).alias("quarantined"),
        F.coalesce(F.sum("rows_read"), F.lit(0)).alias("rows_read"),
        F.min(reason).alias("first_reason"),
        F.min(error).alias("error"),
    )
    return {
        (row.source, row.path): FileCount(
            row.prompts,
            row.repeats,
            row.quarantined,
            row.rows_read,
            row.first_reason and tuple(row.first_reason),
            row.error and tuple(row.error),
        )
        for row in counted.collect()
    }


def raise_unread(counts: Mapping[Place, FileCount]) -> None:
    """Refuse a file that could not be read or holds no record, and a source of which no record became a prompt.

    Raises:
        BenchcoreError: what the reader raised, or with the reason of the source's first record.
    """
    for (source, path), count in sorted(counts.items()):
        if count.error is not None:
            raise unpack_error(*count.error[1:])
        if count.rows_read == 0:
            raise BenchcoreError(
                f"the file holds no record (source '{source}'); nothing was changed",
                where=path,
                mend="Check its format, or name it in the source's 'exclude'.",
            )
    for source, places in itertools.groupby(sorted(counts), key=lambda place: place[0]):
        files = [(path, counts[source, path]) for _, path in places]
        if any(count.prompts for _, count in files):
            continue
        path, (row, reason) = next((path, count.first_reason) for path, count in files if count.first_reason)
        raise BenchcoreError(
            f"none of {sum(count.quarantined for _, count in files):,} records became a prompt; the first: {reason}",
            where=f"source '{source}', {path} row {row}",
            mend="Mend the source's 'map'; nothing was changed.",
        )


def accounts_of(counts: Mapping[Place, FileCount], marks: DataFrame) -> dict[Place, Account]:
    """Make the accounts of all files read, and check them.

    Args:
        counts: as `count_files` gives them.
        marks: as `duplicates.with_duplicates` gives them; only those with a path were read.

    Raises:
        BenchcoreError: the numbers of a file do not add up; nothing was written.
    """
    from pyspark.sql import functions as F

    kept, copies = F.count_if(~F.col("inside")).alias("kept"), F.count_if("inside").alias("copies")
    counted = marks.where("path is not null").groupBy("source", "path").agg(kept, copies)
    identified = {(row.source, row.path): (row.kept, row.copies) for row in counted.collect()}
    accounts = {}
    for where, count in counts.items():
        kept, copies = identified.get(where, (0, 0))
        copies += count.repeats
        account = dict(zip(COUNTS, (count.rows_read, kept, copies, count.quarantined), strict=True))
        if count.rows_read != kept + copies + count.quarantined:
            raise BenchcoreError(
                f"the rows of source '{where[0]}' do not add up ({account}); nothing was written",
                where=where[1],
                mend="This is a defect of benchcore: please report it.",
            )
        accounts[where] = account
    return accounts


def totals_of(registry: Registry, sources: Sequence[str]) -> Account:
    """Add up the accounts of all current files of some sources."""
    table = read_table(registry, "sources", where=_of(sources) & pc.field("superseded_by").is_null())
    return {name: pc.sum(table[name]).as_py() or 0 for name in COUNTS} | {"files": table.num_rows}


def warnings_of(registry: Registry, sources: Sequence[str]) -> tuple[str, ...]:
    """One line for each source that has quarantined rows, with the reason of the first, and one for undeclared ones."""
    return (*_quarantined(registry, sources), *_undeclared(registry, sources))


def _undeclared(registry: Registry, sources: Sequence[str]) -> tuple[str, ...]:
    """A source that went from the configuration keeps its prompts: it may be another configuration's."""
    current = ~_of(sources) & pc.field("superseded_by").is_null()
    table = read_table(registry, "sources", columns=["source", "rows_kept"], where=current)
    if not table.num_rows:
        return ()
    names = sorted(set(table["source"].to_pylist()))
    named = ", ".join(f"'{name}'" for name in names[:_EXAMPLES]) + (", ..." if len(names) > _EXAMPLES else "")
    return (
        f"not declared here, still in the registry: {named}; their {pc.sum(table['rows_kept']).as_py():,} prompts can "
        "be picked (`benchcore registry purge --source NAME` removes them for good)",
    )


def _quarantined(registry: Registry, sources: Sequence[str]) -> tuple[str, ...]:
    columns = ("source", "path", "source_row", "reason")
    table = read_table(registry, "quarantine", columns=columns, where=_of(sources))
    counted = table.group_by("source").aggregate([([], "count_all")]).sort_by("source")
    lines = []
    for row in counted.to_pylist():
        first = _first(table.filter(pc.equal(table["source"], row["source"])))
        lines.append(
            f"source '{row['source']}': {row['count_all']:,} rows quarantined (table 'quarantine'); "
            f"the first, {first['path']} row {first['source_row']}: {first['reason']}"
        )
    return tuple(lines)


def _of(sources: Sequence[str]) -> pc.Expression:
    return pc.field("source").isin(pa.array(sources, pa.string()))


def _first(rows: Any) -> dict[str, Any]:
    keys = [("path", "ascending"), ("source_row", "ascending")]
    first: dict[str, Any] = rows.take(pc.select_k_unstable(rows, 1, keys)).to_pylist()[0]
    return first
