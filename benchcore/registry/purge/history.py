"""Making a table forget all versions but its newest: its log, and the data files that only they need."""

from __future__ import annotations

import re

from benchcore.registry.lease import require
from benchcore.registry.root import Registry
from benchcore.registry.tables import open_table, writing
from benchcore.registry.unneeded import remove, unneeded_files

_VERSION = re.compile(r"^\.?(\d{20})\.")


def forget(registry: Registry, name: str) -> tuple[int, int]:
    """Remove what earlier versions of a table were made of.

    The log goes too: it holds the smallest and the largest text of each data file. Killed at any moment and run again,
    it ends as if it had run once; readers find the newest version all the while. The caller holds the registry's lock.

    Returns:
        How many data files were removed, and their size in bytes.
    """
    table = open_table(registry, name)
    if table is None:
        return 0, 0
    require(registry)
    with writing(registry, name):
        table.create_checkpoint()
    newest, log = table.version(), f"{registry.uri(name)}/_delta_log"
    remove(registry, [path for path in _files(registry, log) if _is_before(path, newest)])
    remove(registry, [f"{log}/._last_checkpoint.crc"])  # of Spark's; the file that it was of has just been replaced
    old = unneeded_files(registry, name)
    remove(registry, old)
    return len(old), sum(old.values())


def _files(registry: Registry, folder: str) -> list[str]:
    return sorted(map(str, registry.filesystem().find(folder)))


def _is_before(path: str, newest: int) -> bool:
    """Whether a file of the log says what was before a version: a commit, a checkpoint, or a checksum of one."""
    version = _VERSION.match(path.rsplit("/", 1)[-1])
    return version is not None and int(version[1]) < newest
