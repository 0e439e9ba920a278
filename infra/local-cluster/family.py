"""The processes of one local cluster: started apart from the terminal, found again by a mark that they all inherit."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil

_MARK = "BENCHCORE_LOCAL_CLUSTER"  # in the environment of each process: which cluster and which part it belongs to
_GRACE_S = 10.0


class Family:
    """All processes of the cluster of one state folder.

    A process id alone says nothing after a while: it may be another's. The mark is in the environment that a process
    was started with, which it hands down to its children.
    """

    def __init__(self, state: Path) -> None:
        self._state = state.resolve()

    def start(self, part: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a part in a session of its own; what it says goes to `logs/PART.log`."""
        log = self._state / "logs" / f"{part}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd=self._state,
                env={**environment, _MARK: self._mark(part)},
            )
        self._file(part).write_text(f"{process.pid} {psutil.Process(process.pid).create_time()!r}\n")

    def leader(self, part: str) -> psutil.Process | None:
        """The process that a part was started as; None when it has ended, though its id may have been given anew."""
        try:
            pid, created = self._file(part).read_text().split()
            process = psutil.Process(int(pid))
            same = abs(process.create_time() - float(created)) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except (OSError, ValueError, psutil.NoSuchProcess):
            return None
        return process if same and _mark_of(process) == self._mark(part) else None

    def end(self, part: str | None = None) -> int:
        """End a part, or all of them, with all that it started: asked first, killed after ten seconds."""
        asked = list(self._members(part))
        _signal(asked, signal.SIGTERM)
        _, alive = psutil.wait_procs(asked, timeout=_GRACE_S)
        while alive:
            _signal(alive, signal.SIGKILL)
            psutil.wait_procs(alive, timeout=_GRACE_S)
            alive = list(self._members(part))  # what was started while others were ending
        for file in self._state.glob("*.pid" if part is None else f"{part}.pid"):
            file.unlink()
        return len(asked)

    def _members(self, part: str | None) -> Iterator[psutil.Process]:
        """Marked processes, and their descendants: some write their title over the environment that they came with."""
        found: dict[int, psutil.Process] = {}
        for process in psutil.process_iter():
            mark = _mark_of(process)
            if mark is not None and (mark == self._mark(part) if part else mark.startswith(self._mark(""))):
                found[process.pid] = process
                try:
                    found.update({child.pid: child for child in process.children(recursive=True)})
                except psutil.NoSuchProcess:
                    continue
        yield from (process for process in found.values() if process.is_running())

    def _mark(self, part: str) -> str:
        return f"{self._state}#{part}"

    def _file(self, part: str) -> Path:
        return self._state / f"{part}.pid"


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(_MARK) if process.uids().real == os.getuid() else None
    except (psutil.Error, OSError):
        return None


def _signal(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)  # psutil looks at the start time first
        except psutil.NoSuchProcess:
            continue
