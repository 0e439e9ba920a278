"""Removing what was found, table by table, so that a kill in between loses no sight of it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import WriterProperties

from benchcore.registry.checks.repeats import Repeats
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.purge.found import PURGED, TABLES, Doomed, Found
from benchcore.registry.purge.heirs import heirs, with_heirs
from benchcore.registry.purge.history import forget
from benchcore.registry.rewriting import rewrite
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import among, append_missing, read, upsert
from benchcore.registry.unneeded import remove

log = logging.getLogger(__name__)

# What may show text, and can be made again.
_MADE_AGAIN = ("_staging", "_layouts", "reports")

# Every bucket's file is open while vectors are written: their rows wait in memory until a row group is full.
_OF_VECTORS = WriterProperties(max_row_group_size=512)
_BUCKETS = 4  # that are written at once


def purge(registry: Registry, found: Found, run_id: str) -> dict[str, int]:
    """Remove what was found, for good. The caller holds the registry's lock.

    A file of raw data is accounted for as before: in the place of each of its prompts stands a row of `quarantine`
    without text. Manifests lose their pins of the tables of which nothing earlier is left.

    Args:
        registry: as `lock.writer_lock` gave it.
        found: what `find` has just found.
        run_id: noted in `quarantine`.

    Returns:
        Rows that were removed, by table, and `files` and `bytes` of what earlier versions had.
    """
    counts = {f"rows_of_{name}": count for name, count in found.rows.items()} | {"files": 0, "bytes": 0}
    if "embeddings" in found.rows:
        _drop_vectors(registry, found.doomed)
    for name in ("scores", "bindings"):
        if name in found.rows:
            _drop(registry, name, found.doomed)
    _quarantine(registry, found, run_id)
    if "prompts" in found.rows:
        _drop_prompts(registry, found.doomed)
    _account(registry, set(found.doomed.ids.values()))
    _unpin(registry, found)
    for folder in _MADE_AGAIN:
        remove(registry, _files(registry, folder))
    for name in TABLES:
        if name in found.files:
            files, size = forget(registry, name)
            counts["files"] += files
            counts["bytes"] += size
            log.info("purge: table '%s' is done", name)
    return counts


def _drop(registry: Registry, name: str, doomed: Doomed) -> None:
    stay = ~doomed.rows_of(name)
    rewrite(registry, name, lambda rows: rows.filter(stay))


def _drop_vectors(registry: Registry, doomed: Doomed) -> None:
    """Write the buckets anew that hold vectors which go, a few in a commit: memory does not grow with the table."""
    gone = doomed.rows_of("embeddings")
    buckets = sorted(read(registry, "embeddings", columns=("bucket",), where=gone)["bucket"].unique().to_pylist())
    for first in range(0, len(buckets), _BUCKETS):
        within = ("bucket", buckets[first : first + _BUCKETS])
        rewrite(registry, "embeddings", lambda rows: rows.filter(~gone), within, writer_properties=_OF_VECTORS)


def _drop_prompts(registry: Registry, doomed: Doomed) -> None:
    stay, new = ~doomed.rows_of("prompts"), heirs(registry, doomed.ids)
    rewrite(registry, "prompts", lambda rows: with_heirs(rows.filter(stay), new))


def _quarantine(registry: Registry, found: Found, run_id: str) -> None:
    """Leave the places of what goes: of rows in quarantine, and of the prompts that the files have now."""
    if "quarantine" in found.rows:
        here = found.doomed.rows_of("quarantine")
        rewrite(registry, "quarantine", lambda rows: _emptied(rows, here, run_id))
    columns, current = ("source", "path", "source_row", "benchmark"), pc.field("retired_at").is_null()
    places = read(registry, "prompts", columns=columns, where=found.doomed.rows_of("prompts") & current)
    if places.num_rows:
        said = {"reason": PURGED, "raw": None, "run_id": run_id}
        rows = [place | said for place in places.to_pylist()]
        append_missing(registry, "quarantine", pa.Table.from_pylist(rows, SCHEMAS["quarantine"]))


def _emptied(rows: pa.Table, where: pc.Expression, run_id: str) -> pa.Table:
    """Rows of `quarantine`, those that are meant without what they said."""
    emptied = rows.filter(where)
    for name, value in (("reason", PURGED), ("raw", None), ("run_id", run_id)):
        column = pa.array([value] * len(emptied), pa.string())
        emptied = emptied.set_column(emptied.column_names.index(name), name, column)
    return pa.concat_tables([rows.filter(~where), emptied])


def _account(registry: Registry, benchmarks: Collection[str]) -> None:
    """Count anew what became of the rows of each file; how many were read stays."""
    where = among("benchmark", benchmarks) & pc.field("superseded_by").is_null()
    stored = read(registry, "sources", where=where)
    if not stored.num_rows:
        return
    repeats, rows = Repeats.of(Snapshot.of(registry)), []
    places = read(registry, "quarantine", columns=("source", "path"), where=among("benchmark", benchmarks))
    quarantined = Counter(zip(places["source"].to_pylist(), places["path"].to_pylist(), strict=True))
    for row in stored.to_pylist():
        place = row["source"], row["path"]
        counts = {"rows_kept": repeats.kept[place], "rows_quarantined": quarantined[place]}
        counts["rows_duplicate"] = row["rows_read"] - sum(counts.values())
        if row | counts != row:
            rows.append(row | counts)
    upsert(registry, "sources", pa.Table.from_pylist(rows, SCHEMAS["sources"]))


def _unpin(registry: Registry, found: Found) -> None:
    """Take versions out of manifests: whoever reads what a coreset was picked from reads the newest version then."""
    if not found.unpinned:
        return

    def unpinned(rows: pa.Table) -> pa.Table:
        left = [_without(pinned, found.files) for pinned in rows["table_versions"].to_pylist()]
        place = rows.column_names.index("table_versions")
        return rows.set_column(place, "table_versions", pa.array(left, pa.string()))

    rewrite(registry, "manifests", unpinned)


def _without(pinned: str | None, names: Collection[str]) -> str:
    versions = orjson.loads(pinned or "{}")
    return orjson.dumps({name: version for name, version in versions.items() if name not in names}).decode()


def _files(registry: Registry, folder: str) -> list[str]:
    filesystem, where = registry.filesystem(), registry.sidecar(folder)
    found = map(str, filesystem.find(where)) if filesystem.exists(where) else ()
    return [path for path in found if not path.endswith("/_lock")]
