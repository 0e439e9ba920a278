"""The most memory that this process took since a moment.

The kernel keeps the peak of the resident set itself: exact, where sampling from outside (`infra/measure.py`) would miss
a peak between two samples and take time from the cores that are measured. It counts libraries in full, also where
another process shares them, so it is never below the proportional set size.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import resource
from pathlib import Path


def forget_peak() -> None:
    """Start anew from what is in use now; where the system cannot, the peak is that of the whole process."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # what making the data has left behind is nobody's memory
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Bytes resident at most."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    return 1024 * (int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
