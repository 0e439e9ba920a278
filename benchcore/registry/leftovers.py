"""Files beside the tables that nothing needs: what killed runs left, and what was kept for runs that came no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchcore.registry.root import Registry

# Work under way; what lies there while no run is, a killed one has left.
STAGING = ("_staging",)
# Kept since it may save work: orders of picks, and positions on the map of a report.
CACHES = (("_checkpoints", "select"), ("_layouts",))

_LOCK = "_lock"  # in `_staging/ingest`: a JVM that is ending may still hold it


@dataclass(frozen=True)
class Leftover:
    """A file that can go.

    Attributes:
        path: where it lies, as the registry's file system names it.
        size: in bytes.
    """

    path: str
    size: int


def leftovers(registry: Registry, folder: tuple[str, ...], older_than: timedelta) -> Iterator[Leftover]:
    """The files of a folder that were last written longer ago than that."""
    filesystem, where = registry.filesystem(), registry.sidecar(*folder)
    if not filesystem.exists(where):
        return
    before = datetime.now(UTC) - older_than
    for path, info in sorted(filesystem.find(where, detail=True).items()):
        if not str(path).endswith(f"/{_LOCK}") and filesystem.modified(path) < before:
            yield Leftover(str(path), int(info["size"]))
