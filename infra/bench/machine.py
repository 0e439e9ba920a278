"""What the bench ran on, for whoever reads its figures."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path

from benchcore.machine import free_memory, in_words, usable_cores

_LIBRARIES = ("benchcore", "numpy", "scipy", "numba", "llvmlite")


def describe(threads: int) -> dict[str, str]:
    """Processor, memory, load, threads and versions, each in words."""
    free = free_memory()
    return {
        "processor": f"{_processor()}, {usable_cores()} usable cores",
        "memory": "unknown" if free is None else f"{in_words(free)} free",
        "load before": f"{os.getloadavg()[0]:.1f} (figures need an idle machine)",
        "threads": str(threads),
        "Python": platform.python_version(),
        "libraries": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES),
    }


def _processor() -> str:
    """Name, family and model; names alone may say little on virtual machines."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = dict(re.findall(r"^(model name|cpu family|model)\s*: (.+)$", text, re.MULTILINE))
    name = found.get("model name", platform.machine())
    return f"{name} (family {found['cpu family']}, model {found['model']})" if "cpu family" in found else name
