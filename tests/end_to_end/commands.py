"""Running the command line as a process of its own, and killing parts of it at chosen moments."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

Answer = TypeVar("Answer")

_TICK_S = 0.02
_LIMIT_S = 240.0
BENCHCORE = (sys.executable, "-m", "benchcore")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


class Command:
    """A running `benchcore ...` or other program, with its output in files so that no pipe can fill."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        program: Sequence[str] = BENCHCORE,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._out, self._err = (folder / f"{name}-{os.urandom(4).hex()}.txt" for name in ("out", "err"))
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [*program, *arguments],
                stdout=out,
                stderr=err,
                start_new_session=True,
                cwd=folder,
                env={**os.environ, **(environment or {})},
            )
        self._family: dict[int, psutil.Process] = {}

    def family(self) -> list[psutil.Process]:
        """All living descendants, those met earlier and orphaned since included."""
        try:
            for process in psutil.Process(self.process.pid).children(recursive=True):
                self._family.setdefault(process.pid, process)
        except psutil.NoSuchProcess:
            pass
        return [process for process in self._family.values() if process.is_running()]

    def wait_until(self, happened: Callable[[], bool]) -> None:
        """Wait until something is true of the running command; fail if the command ends first."""
        for _ in range(int(_LIMIT_S / _TICK_S)):
            self.family()
            if happened():
                return
            assert not self.ended_within(_TICK_S), f"the command ended before the moment came:\n{self.result().err}"
        raise AssertionError("the moment never came")

    def kill(self, after_s: float = 0.0) -> None:
        """kill -9 of the driver alone, `after_s` from now; its children must notice by themselves."""
        assert not self.ended_within(after_s), "the command ended before it was killed"
        self.family()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.require_no_orphans()

    def require_no_orphans(self) -> None:
        """Nothing of it is left after a while."""
        _, alive = psutil.wait_procs([process for process in self.family() if not _is_ray_agent(process)], timeout=30)
        assert not alive, f"outlived their driver: {[process.cmdline()[:3] for process in alive]}"

    def ended_within(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        try:
            self.process.wait(timeout=max(seconds, 0.001))
        except subprocess.TimeoutExpired:
            return False
        return True

    def result(self, limit_s: float = _LIMIT_S) -> Ended:
        """Wait for the end."""
        self.process.wait(timeout=limit_s)
        return Ended(self.process.returncode, self._out.read_text(), self._err.read_text())


def _is_ray_agent(process: psutil.Process) -> bool:
    """Ray's own agents, which touch nothing of ours, end by themselves a minute or two after their node."""
    # A process that is ending has no command line any more.
    return _is(process, lambda running: "agent" in " ".join(running.cmdline()[:4]).lower())


def run(folder: Path, *arguments: str) -> Ended:
    """Run a command to its end."""
    return Command(folder, *arguments).result()


def kill_one(command: Command, is_target: Callable[[psutil.Process], bool], draw: random.Random) -> str:
    """kill -9 of a random descendant that is a target, as soon as there is one; says which it was."""
    found: list[psutil.Process] = []

    def appeared() -> bool:
        found[:] = [process for process in command.family() if _is(process, is_target)]
        return bool(found)

    command.wait_until(appeared)
    victim = draw.choice(found)
    name = " ".join(victim.cmdline())[:80]
    victim.kill()
    return name


def _is(process: psutil.Process, is_target: Callable[[psutil.Process], bool]) -> bool:
    return bool(unless_gone(process, is_target))


def unless_gone(process: psutil.Process, ask: Callable[[psutil.Process], Answer]) -> Answer | None:
    """What a question about a process is answered; None where it has ended meanwhile."""
    try:
        return ask(process)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return None


def is_ray_actor(process: psutil.Process) -> bool:
    """An actor of ours (Ray names an idle worker ray::IDLE)."""
    name = " ".join(process.cmdline())
    return name.startswith("ray::") and "Actor" in name


def is_spark_python_worker(process: psutil.Process) -> bool:
    """A Python worker: forked by the daemon, whose command line it shares."""
    parent = process.parent()
    return (
        "pyspark.daemon" in " ".join(process.cmdline())
        and parent is not None
        and "pyspark.daemon" in " ".join(parent.cmdline())
    )
