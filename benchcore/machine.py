"""What this machine has: memory that is free, disk that is free, cores that may be used."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

_CGROUP_LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def usable_cores() -> int:
    """Cores that this process may run on (a container or taskset may give fewer than the machine has)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int | None:
    """Bytes that new processes can have, within the container's limit where there is one; None where unknown."""
    found = [left for left in (_machine_memory(), *map(_left_in_cgroup, _CGROUP_LIMITS)) if left is not None]
    return min(found, default=None)


def memory_in_use() -> int | None:
    """Bytes of this process and of all that it has started, shared ones once; None where that is unknown."""
    try:
        import psutil
    except ImportError:
        return None
    try:
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    except psutil.Error:
        return None
    return sum(map(_memory_of, processes))


def _memory_of(process: Any) -> int:
    """Its proportional set size where the system tells it, else its resident one; nothing of one that has ended."""
    import psutil

    try:
        found = process.memory_full_info()
        return int(getattr(found, "pss", 0) or found.rss)
    except psutil.Error:
        return 0


def free_disk(path: Path) -> int:
    """Bytes that are free where `path` lies, or will lie when it is created."""
    existing = path
    while not existing.exists():
        existing = existing.parent
    return shutil.disk_usage(existing).free


def bytes_of(size: str) -> int:
    """Read a size as Spark writes it: '2g', '512m', '1024'.

    Raises:
        ValueError: it is no such size.
    """
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    if not match:
        raise ValueError(f"'{size}' is no size such as 512m or 2g")
    return int(match[1]) * _UNITS[match[2]]


def in_words(size: float) -> str:
    """Write a number of bytes for people: '1.5 GiB'."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}" if unit == "GiB" else f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _machine_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line for line in lines if line.startswith("MemAvailable:")]
    return int(found[0].split()[1]) * 1024 if found else None


def _left_in_cgroup(files: tuple[Path, Path]) -> int | None:
    try:
        limit, used = (file.read_text().strip() for file in files)
    except OSError:
        return None
    # Without a limit, version 2 says "max" and version 1 a number near 2^63.
    return None if limit == "max" or int(limit) >= 1 << 60 else max(0, int(limit) - int(used))
