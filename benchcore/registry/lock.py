"""One writer at a time: a lock on the root of a registry, whose waiters say for whom they wait.

A folder has a file lock, which ends with its holder; an object store has a lease (`lease.py`).
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from benchcore.errors import BenchcoreError
from benchcore.registry.lease import hold
from benchcore.registry.root import Registry

log = logging.getLogger(__name__)


@contextmanager
def writer_lock(registry: Registry, command: str, timeout_s: float = 3600.0) -> Iterator[Registry]:
    """Hold the registry's write lock.

    Args:
        registry: whose tables are to be written.
        command: what the holder is doing, for whoever waits.
        timeout_s: how long to wait for another writer.

    Yields:
        the registry as its holder writes it: on an object store no other one can be written.

    Raises:
        BenchcoreError: another writer still holds the lock after `timeout_s`.
    """
    if registry.is_local:
        with _file_lock(registry, command, timeout_s):
            yield registry
        return
    with hold(registry, command, timeout_s) as held:
        yield held


@contextmanager
def _file_lock(registry: Registry, command: str, timeout_s: float) -> Iterator[None]:
    """The operating system frees it when the holder dies, however it dies.

    The holder is described in a note beside the lock, which is read only by those who wait.
    """
    registry.require_writable()
    folder = Path(registry.root)
    note = folder / "_lock.json"
    lock = FileLock(folder / "_lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        log.info("waiting for %s", _holder(note))
        try:
            lock.acquire(timeout=timeout_s)
        except Timeout:
            raise BenchcoreError(
                f"the registry is locked by {_holder(note)}, and stayed so for {timeout_s:g} s",
                where=registry.root,
                mend="Wait for it to end, or raise registry.lock_timeout_s.",
            ) from None
    try:
        with suppress(OSError):  # a full disk: what cannot be written without the note fails by itself
            note.write_text(json.dumps(_describe(command)))
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def _describe(command: str) -> dict[str, str | int]:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return {"command": command, "pid": os.getpid(), "host": socket.gethostname(), "started": started}


def _holder(note: Path) -> str:
    try:
        holder = json.loads(note.read_text())
        return f"'{holder['command']}' (process {holder['pid']} on {holder['host']}, since {holder['started']})"
    except (OSError, ValueError, KeyError):  # the holder is between taking the lock and describing itself
        return "another process"
