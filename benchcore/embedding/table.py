"""The table `embeddings`: what it holds of an encoder, and the one append of a run."""

from __future__ import annotations

import itertools
import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, WriterProperties

from benchcore.errors import UsageError
from benchcore.registry.identity import bucket
from benchcore.registry.lease import require
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import NO_RETRIES, commit, dataset, open_table, writing

log = logging.getLogger(__name__)

_SCHEMA = SCHEMAS["embeddings"]
_CHECKED_ROWS = 1000
_MANY_FILES = 8
# Every bucket's file is open while the append runs: its rows wait in memory until a row group is full.
_ROW_GROUP = 512
_FILE_BYTES = 16 * 1024**2


def known_texts(registry: Registry, encoder: str, buckets: int) -> dict[str, bool]:
    """Read which texts have a vector of an encoder, and whether it stands for the head of the text only.

    Raises:
        UsageError: the table was written with another number of buckets.
    """
    rows = dataset(registry, "embeddings").to_table(
        columns=["text_hash", "truncated", "bucket"], filter=pc.field("encoder") == encoder
    )
    require_buckets(rows, buckets)
    return dict(zip(rows["text_hash"].to_pylist(), rows["truncated"].to_pylist(), strict=True))


def require_buckets(rows: pa.Table, buckets: int) -> None:
    """Check that the configured number of buckets is that of the table.

    Args:
        rows: text_hash and bucket of stored vectors; the first thousand are looked at.
        buckets: as configured.

    Raises:
        UsageError: the table was written with another number.
    """
    looked_at = rows.slice(0, _CHECKED_ROWS)
    for hashed, stored in zip(looked_at["text_hash"].to_pylist(), looked_at["bucket"].to_pylist(), strict=True):
        if bucket(hashed, buckets) != stored:
            raise UsageError(
                f"is {buckets}, but the table embeddings was written with another number",
                where="registry.buckets",
                mend="Set it back; it is fixed once a registry holds embeddings.",
            )


@dataclass(frozen=True)
class Appended:
    """What an append added: rows of each encoder, and how many of them stand for the head of a text only."""

    rows: Mapping[str, int]
    truncated: int = 0


def append(registry: Registry, known: Mapping[str, Collection[str]], tables: Iterable[pa.Table]) -> Appended:
    """Add the rows whose text the table lacks, in one commit, streamed; without any, no commit is made.

    The caller holds the registry's lock.

    Args:
        registry: holds the table.
        known: by encoder, hashes of texts that the table has of it.
        tables: rows of one encoder each, of any number of texts.
    """
    fresh = _fresh(known, tables)
    first = next(fresh, None)
    if first is None:
        return Appended({})
    rows, truncated = Counter[str](), 0

    def stream() -> Iterator[pa.RecordBatch]:
        nonlocal truncated
        for table in itertools.chain([first], fresh):
            rows[_encoder_of(table)] += table.num_rows
            truncated += pc.sum(table["truncated"]).as_py()
            yield from table.to_batches()

    commit(
        registry,
        "embeddings",
        open_table(registry, "embeddings"),
        pa.RecordBatchReader.from_batches(_SCHEMA, stream()),
        target_file_size=_FILE_BYTES,
        writer_properties=WriterProperties(max_row_group_size=_ROW_GROUP),
    )
    return Appended(rows, truncated)


def compact(registry: Registry, encoder: str) -> bool:
    """Merge small files of an encoder's buckets, once there are many; says whether it did.

    Rows stay what they are; readers of an earlier version are not disturbed.
    """
    table = open_table(registry, "embeddings")
    if table is None or not _has_many_files(table, encoder):
        return False
    require(registry)
    with writing(registry, "embeddings"):
        table.optimize.compact(
            partition_filters=[("encoder", "=", encoder)], target_size=4 * _FILE_BYTES, commit_properties=NO_RETRIES
        )
    log.info("merged the small files of encoder %s", encoder)
    return True


def _has_many_files(table: DeltaTable, encoder: str) -> bool:
    actions = pa.table(table.get_add_actions(flatten=True))
    mine = actions.filter(pc.equal(actions["partition.encoder"], encoder))
    if mine.num_rows == 0:
        return False
    counts = mine.group_by("partition.bucket").aggregate([("path", "count")])
    return bool(pc.max(counts["path_count"]).as_py() > _MANY_FILES)


def _fresh(known: Mapping[str, Collection[str]], tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    seen: dict[str, set[str]] = defaultdict(set)
    for table in tables:
        encoder = _encoder_of(table)
        stored, added, wanted = known.get(encoder, ()), seen[encoder], []
        for row, hashed in enumerate(table["text_hash"].to_pylist()):
            if hashed not in stored and hashed not in added:
                added.add(hashed)
                wanted.append(row)
        if wanted:
            yield table if len(wanted) == table.num_rows else table.take(wanted)


def _encoder_of(table: pa.Table) -> str:
    return str(table["encoder"][0].as_py())
