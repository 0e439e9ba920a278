"""One fresh process for each task, one after another, all with the same number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from infra.bench import peers
from infra.bench.places import ROOT
from infra.bench.task import PEERS, Outcome, Task

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def run(task: Task, threads: int, scratch: Path) -> Outcome:
    """Measure a task.

    Args:
        task: what to measure.
        threads: of BLAS, OpenMP and numba, where the task wants no others.
        scratch: a folder of the bench's own, for the compiler's cache.

    Returns:
        What was found; if the child failed, the last that it said.
    """
    module = "peer_child" if task.engine in PEERS else "child"
    python = str(peers.PYTHON) if task.engine in PEERS else sys.executable
    command = [python, "-m", f"infra.bench.{module}", task.to_json()]
    environment = _environment(task, threads, scratch)
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        return Outcome(error=str(error))
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and lines:
        return Outcome.from_json(lines[-1])
    said = done.stderr.strip().splitlines()
    return Outcome(error=f"exit status {done.returncode}: {said[-1] if said else 'said nothing'}")


def environment_of(threads: int) -> dict[str, str]:
    """This process's environment, with a number of threads for all libraries."""
    return {**os.environ, **dict.fromkeys(_THREADS, str(threads))}


def _environment(task: Task, threads: int, scratch: Path) -> dict[str, str]:
    environment = environment_of(task.threads or threads)
    if task.cache != "usual":
        # Empty for the first task that compiles an objective, filled by it for the next.
        environment["NUMBA_CACHE_DIR"] = str(scratch / f"{task.objective}-compiled")
    return environment
