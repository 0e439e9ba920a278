"""Removing what nothing needs: data files of old versions, unless a manifest pins one, and what runs left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from benchcore.registry.lease import require
from benchcore.registry.leftovers import CACHES, STAGING, leftovers
from benchcore.registry.manifests import list_manifests
from benchcore.registry.pins import pinned_versions
from benchcore.registry.rewriting import rewrite
from benchcore.registry.root import Registry
from benchcore.registry.schemas import RETENTION, SCHEMAS
from benchcore.registry.tables import NO_RETRIES, among, dataset, open_table, writing
from benchcore.registry.unneeded import remove, unneeded_files


@dataclass
class Vacuumed:
    """What was removed, or would be.

    Attributes:
        files: by table or folder, how many files.
        bytes: by table or folder, how large they were.
        pinned: by table, how many older versions were kept for manifests.
        unsealed: by table, rows of coresets without manifest.
        retention: tables that got the retention of this release.
    """

    files: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    pinned: dict[str, int] = field(default_factory=dict)
    unsealed: dict[str, int] = field(default_factory=dict)
    retention: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Totals; empty where nothing was to be done."""
        found = {
            "files": sum(self.files.values()),
            "bytes": sum(self.bytes.values()),
            "unsealed_rows": sum(self.unsealed.values()),
            "tables_given_retention": len(self.retention),
        }
        return {name: number for name, number in found.items() if number}


def vacuum(registry: Registry, keep: timedelta, *, dry_run: bool) -> Vacuumed:
    """Remove the files that no version of the last days needs, and none that a manifest pins.

    The caller holds the registry's lock. Killed at any moment and run again, it ends as if it had run once.

    Args:
        registry: as `lock.writer_lock` gave it.
        keep: how far back every version stays readable.
        dry_run: only say what would go.
    """
    done = Vacuumed()
    manifests = list_manifests(registry)
    if manifests:  # a table of manifests that is lost must not take the picks with it
        for name in ("coresets", "coreset_weights"):
            _drop_unsealed(registry, name, {manifest.coreset_id for manifest in manifests}, done, dry_run=dry_run)
    pins = pinned_versions(manifests)
    for name in SCHEMAS:
        _set_retention(registry, name, done, dry_run=dry_run)
        done.pinned[name] = len(pins.get(name, ()))
        _remove(registry, name, unneeded_files(registry, name, keep, pins.get(name, {})), done, dry_run=dry_run)
    for folder in (STAGING, *CACHES):
        found = {file.path: file.size for file in leftovers(registry, folder, keep)}
        _remove(registry, "/".join(folder), found, done, dry_run=dry_run)
    return done


def _drop_unsealed(registry: Registry, name: str, sealed: set[str], done: Vacuumed, *, dry_run: bool) -> None:
    """Drop the rows of coresets that were never finished and that nothing asks for: those without manifest."""
    whole = among("coreset_id", sealed)
    lacking = dataset(registry, name).count_rows(filter=~whole)
    if not lacking:
        return
    done.unsealed[name] = lacking
    if not dry_run:
        rewrite(registry, name, lambda rows: rows.filter(whole))


def _set_retention(registry: Registry, name: str, done: Vacuumed, *, dry_run: bool) -> None:
    """Keep other engines from removing what is pinned, also of tables that an earlier release made."""
    table = open_table(registry, name)
    if table is None:
        return
    configured = table.metadata().configuration
    if all(configured.get(key) == value for key, value in RETENTION.items()):
        return
    done.retention.append(name)
    if not dry_run:
        require(registry)
        with writing(registry, name):
            table.alter.set_table_properties(dict(RETENTION), commit_properties=NO_RETRIES)


def _remove(registry: Registry, where: str, files: Mapping[str, int], done: Vacuumed, *, dry_run: bool) -> None:
    if files:
        done.files[where], done.bytes[where] = len(files), sum(files.values())
    if not dry_run:
        remove(registry, files)
