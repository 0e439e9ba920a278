"""The cluster of `infra/local-cluster`, for the tests: what it exports, and the processes that are of it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

CHECKOUT = Path(__file__).resolve().parents[2]
_SCRIPTS = CHECKOUT / "infra" / "local-cluster"


@dataclass(frozen=True)
class Cluster:
    """A cluster that is up.

    Attributes:
        state: its folder.
        environment: what its `env` file exports.
    """

    state: Path
    environment: dict[str, str]

    def processes(self) -> list[psutil.Process]:
        """All that belong to it, however they were started."""
        return [process for process in psutil.process_iter() if self._mark(process)]

    def parts(self, pattern: str) -> list[list[psutil.Process]]:
        """Of each part whose name fits the pattern (`ray-node-*`): its process, and the descendants of that."""
        found = []
        for file in sorted(self.state.glob(f"{pattern}.pid")):
            try:
                leader = psutil.Process(int(file.read_text().split()[0]))
                found.append([leader, *leader.children(recursive=True)])
            except psutil.NoSuchProcess:
                continue
        return found

    def _mark(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("BENCHCORE_LOCAL_CLUSTER", "").startswith(f"{self.state.resolve()}#")
        except psutil.Error:
            return False

    def up(self) -> str:
        """Start what is not up; gives what it says."""
        return _run("up", "--state", str(self.state))

    def down(self) -> str:
        """End all of it."""
        return _run("down", "--state", str(self.state))


def start(state: Path) -> Cluster:
    """Start a cluster."""
    _run("up", "--state", str(state))
    exports = (shlex.split(line)[1].partition("=") for line in (state / "env").read_text().splitlines())
    return Cluster(state, {name: value for name, _, value in exports})


def _run(script: str, *arguments: str) -> str:
    ran = subprocess.run([str(_SCRIPTS / script), *arguments], capture_output=True, text=True, check=False)
    sys.stderr.write(ran.stderr)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
