"""Data files of a table that no version needs any more, and their removal."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta

from benchcore.registry.lease import require
from benchcore.registry.pins import files_at, stored_files
from benchcore.registry.root import Registry
from benchcore.registry.tables import open_table


def unneeded_files(
    registry: Registry, name: str, keep: timedelta = timedelta(0), pinned: Collection[int] = ()
) -> dict[str, int]:
    """The files of a table that deltalake finds unneeded, and their sizes in bytes.

    Its own removal is not used: it tells no sizes, and makes two versions each time.

    Args:
        registry: where the table lies.
        name: of a table; one that is absent has none.
        keep: how far back every version is needed.
        pinned: older versions that are needed; those that cannot be read any more are passed over.
    """
    table = open_table(registry, name)
    if table is None:
        return {}
    found = table.vacuum(
        retention_hours=int(keep.total_seconds() // 3600),
        dry_run=True,
        enforce_retention_duration=False,
        full=True,
        keep_versions=[version for version in pinned if files_at(registry, name, version) is not None],
    )
    sizes = stored_files(registry, name)
    return {f"{registry.uri(name)}/{path}": sizes[path] for path in sorted(found) if path in sizes}


def remove(registry: Registry, files: Collection[str]) -> None:
    """Remove files that are or are not there, and the checksums that Hadoop puts beside them on a local disk.

    The caller holds the registry's lock.
    """
    if files:
        require(registry)
    filesystem = registry.filesystem()
    for path in files:
        folder, _, name = path.rpartition("/")
        for gone in (path, f"{folder}/.{name}.crc") if registry.is_local else (path,):
            with suppress(FileNotFoundError):
                filesystem.rm_file(gone)
