"""What runs leave between their steps, and who waits for whom."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from benchcore.ingest.staging import clear, engine_lock
from benchcore.registry.root import Registry


def test_the_lock_is_held_until_the_engine_that_inherited_it_has_ended(tmp_path: Path):
    """A driver may die before its JVM does: the next run must not start in between."""
    registry = Registry.at(tmp_path)
    with engine_lock(registry) as descriptors:
        engine = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=descriptors)
    assert engine.stdin is not None
    other = os.open(tmp_path / "_staging" / "ingest" / "_lock", os.O_RDWR)

    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    engine.stdin.close()
    engine.wait()
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)


def test_what_a_killed_run_left_is_removed_but_the_lock_stays(tmp_path: Path):
    """Clearing is harmless, whether there is something or not."""
    registry = Registry.at(tmp_path)
    clear(registry)
    with engine_lock(registry):
        left = tmp_path / "_staging" / "ingest" / "killed" / "read" / "part-0.parquet"
        left.parent.mkdir(parents=True)
        left.touch()
        clear(registry)

    assert [entry.name for entry in (tmp_path / "_staging" / "ingest").iterdir()] == ["_lock"]
