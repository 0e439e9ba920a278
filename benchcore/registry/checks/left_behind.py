"""What runs have left beside the tables, and whether one is under way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from benchcore.machine import in_words
from benchcore.registry.checks.finding import EXAMPLES, Finding
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.leftovers import CACHES, STAGING, leftovers
from benchcore.registry.root import Registry

_OLD = timedelta(days=30)

_VACUUM = "`benchcore registry vacuum` removes them."


def left_behind(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for a lock that is held, what killed runs have left, and caches that nobody came back to."""
    registry, holder = snapshot.registry, _holder(snapshot.registry)
    if holder is not None:
        held = _is_held(registry)
        what = "run is under way" if held else "run did not end by itself"
        mend = "What it has not written yet may be missing." if held else "Run its command again: it goes on."
        yield Finding("lock", "notice", registry.root, what, 1, (holder,), mend)
        if held:
            return
    for folder, age in ((STAGING, timedelta(0)), *((cache, _OLD) for cache in CACHES)):
        found = list(leftovers(registry, folder, age))
        if found:
            size = in_words(sum(file.size for file in found))
            what = f"files ({size}) of killed runs" if folder == STAGING else f"files ({size}) older than 30 days"
            examples = tuple(file.path.rsplit("/", 1)[-1] for file in found[:EXAMPLES])
            mend = f"The next run uses or removes them; {_VACUUM}" if folder == STAGING else _VACUUM
            yield Finding("leftovers", "notice", "/".join(folder), what, len(found), examples, mend)


def _holder(registry: Registry) -> str | None:
    """Who holds the lock, or held it when it was killed, as its note says."""
    try:
        note = orjson.loads(registry.filesystem().cat_file(registry.sidecar("_lock.json")))
    except (OSError, ValueError):
        return None
    if not isinstance(note, dict) or note.get("token", True) is None:  # on an object store: free
        return None
    return f"'{note.get('command')}' on {note.get('host')}, since {note.get('started', note.get('since'))}"


def _is_held(registry: Registry) -> bool:
    """Whether the holder lives; of an object store it is taken to."""
    if not registry.is_local:
        return True
    try:
        with FileLock(Path(registry.root) / "_lock", timeout=0):
            return False
    except Timeout:
        return True
