"""Run a command and tell its time and peak memory: the proportional set sizes of all its processes together.

    .venv/bin/python infra/measure.py .venv/bin/benchcore run conf/registry.yaml

Proportional set size (PSS) counts a page that several processes share once in all, so the sum over processes is what
the command takes from the machine. It is sampled once a second; the command's own output goes where it always does.
"""

from __future__ import annotations

import subprocess
import sys
import time

import psutil

_PERIOD_S = 1.0


def main(command: list[str]) -> int:
    """Run the command to its end; returns its exit status."""
    if not command:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    started = time.monotonic()
    process = subprocess.Popen(command)
    peak, most = 0, 0
    while True:
        try:
            status = process.wait(_PERIOD_S)
            break
        except subprocess.TimeoutExpired:
            total, number = _memory(process.pid)
            peak, most = max(peak, total), max(most, number)
    seconds = time.monotonic() - started
    sys.stderr.write(f"measured: {seconds:.1f} s, peak {peak / 2**30:.2f} GiB over at most {most} processes\n")
    return status


def _memory(pid: int) -> tuple[int, int]:
    """PSS in bytes of a process and its descendants, and how many they are."""
    total, number = 0, 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0, 0
    for process in family:
        try:
            total += process.memory_full_info().pss
            number += 1
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return total, number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
