"""Run a command and tell its time and peak memory: the proportional set sizes of all its processes together.

    .venv/bin/python infra/measure.py .venv/bin/benchcore run conf/registry.yaml

Proportional set size (PSS) counts a page that several processes share once in all, so the sum over processes is what
the command takes from the machine. It is sampled once a second; the command's own output goes where it always does.
Processes are the command's descendants, and those that were left by their parents but still carry its mark in their
environment, as daemons may.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

_PERIOD_S = 1.0
_MARK = "BENCHCORE_MEASURED"  # a variable that all processes of a command inherit


@dataclass
class Measured:
    """What a command took.

    Attributes:
        status: its exit status.
        seconds: wall-clock time.
        peak: bytes of all its processes together at most.
        peak_at: seconds after the start at which that was.
        processes: how many there were at most.
        others: share of the cores' time that went to other processes meanwhile.
    """

    status: int = 0
    seconds: float = 0.0
    peak: int = 0
    peak_at: float = 0.0
    processes: int = 0
    others: float = 0.0
    _cpu: dict[int, float] = field(default_factory=dict, repr=False)  # seconds of each process that was seen


def measure(command: list[str], **options: Any) -> Measured:
    """Run a command to its end; `options` go to `subprocess.Popen`."""
    mark = uuid.uuid4().hex
    environment = {**(options.pop("env", None) or os.environ), _MARK: mark}
    found, started, busy = Measured(), time.monotonic(), _busy()
    process = subprocess.Popen(command, env=environment, **options)
    while True:
        try:
            found.status = process.wait(_PERIOD_S)
            break
        except subprocess.TimeoutExpired:
            _sample(found, process.pid, mark, time.monotonic() - started)
    found.seconds = time.monotonic() - started
    cores = psutil.cpu_count() or 1
    found.others = max(0.0, _busy() - busy - sum(found._cpu.values())) / (found.seconds * cores)
    return found


def _sample(found: Measured, pid: int, mark: str, now: float) -> None:
    total, number = 0, 0
    for process in _family(pid, mark):
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            total += process.memory_full_info().pss
            times = process.cpu_times()
        except psutil.Error:  # it has ended meanwhile
            continue
        found._cpu[process.pid] = times.user + times.system
        number += 1
    if total > found.peak:
        found.peak, found.peak_at = total, now
    found.processes = max(found.processes, number)


def _family(pid: int, mark: str) -> list[psutil.Process]:
    """A process, its descendants, and all that carry its mark."""
    family = {}
    try:
        first = psutil.Process(pid)
        family = {process.pid: process for process in (first, *first.children(recursive=True))}
    except psutil.NoSuchProcess:
        pass
    wanted = f"{_MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        other = int(folder.name)
        try:
            if other not in family and wanted in (folder / "environ").read_bytes():
                family[other] = psutil.Process(other)
        except (OSError, psutil.NoSuchProcess):
            continue
    return list(family.values())


def _busy() -> float:
    """Seconds that all cores together have worked since the machine was started."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system)


def main(command: list[str]) -> int:
    """Run the command to its end; returns its exit status."""
    if not command:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    found = measure(command)
    memory = f"peak {found.peak / 2**30:.2f} GiB over at most {found.processes} processes"
    sys.stderr.write(f"measured: {found.seconds:.1f} s, {memory}\n")
    return found.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
