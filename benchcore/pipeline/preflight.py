"""What must hold before a command starts anything: better a line now than half a job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchcore.config import Config
from benchcore.errors import BenchcoreError, UsageError
from benchcore.machine import bytes_of, free_disk, free_memory, in_words
from benchcore.registry.root import Registry

# Less than this, and a small registry's tables, staging and shuffle files may not fit; each step checks its own need.
DISK_FLOOR = 256 * 1024**2
# What one command needs beside Spark's heap: Python, its workers, an encoder.
MEMORY_FLOOR = 768 * 1024**2


def require_memory_for(config: Config, steps: Sequence[str]) -> None:
    """Check that the memory suffices for each of the steps (they follow each other, and Spark ends before Ray starts).

    Raises:
        UsageError: a size in the configuration is no size.
        BenchcoreError: there is too little.
    """
    require_memory(_memory_needed(config, steps), "Close other programs, or lower spark.driver_memory.")


def require_disk(registry: Registry, needed: int) -> None:
    """Check that `needed` bytes are free below a local root; an object store has no end.

    Raises:
        BenchcoreError: fewer are free.
    """
    if not registry.is_local:
        return
    free = free_disk(Path(registry.root))
    if free < needed:
        raise BenchcoreError(
            f"too little disk: {in_words(needed)} needed, {in_words(free)} free",
            where=registry.root,
            mend="Free some, or choose another root with --root.",
        )


def require_memory(needed: int, mend: str) -> None:
    """Check that `needed` bytes of memory can be had.

    Raises:
        BenchcoreError: fewer can.
    """
    free = free_memory()
    if free is not None and free < needed:
        raise BenchcoreError(f"too little memory: {in_words(needed)} needed, {in_words(free)} free", mend=mend)


def _memory_needed(config: Config, steps: Sequence[str]) -> int:
    needed = [0]
    if "ingest" in steps and config.spark.master is None:
        try:
            needed.append(MEMORY_FLOOR + bytes_of(config.spark.driver_memory))
        except ValueError as error:
            raise UsageError(str(error), where="spark.driver_memory") from None
    if set(steps) & {"embed", "select"} and config.ray.address is None:
        needed.append(MEMORY_FLOOR + config.ray.object_store_mb * 1024**2)
    return max(needed)
