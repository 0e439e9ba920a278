"""The process that measures another library, in an environment that has no benchcore."""

from __future__ import annotations

import importlib.metadata
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from infra.bench import data, values
from infra.bench.blas import kernels
from infra.bench.memory import forget_peak, peak
from infra.bench.task import Outcome, Task

Rows = NDArray[np.float32]
Picks = NDArray[np.int64]

_WARM_ROWS = 500
_PACKAGES = {"apricot": "apricot-select", "submodlib": "submodlib-py"}


def main(text: str) -> None:
    """Measure a task and write what was found as the last line."""
    task = Task.from_json(text)
    pick = WAYS[task.engine, task.way]
    small = data.vectors(task.kind, _WARM_ROWS)
    started = time.perf_counter()
    pick(small, 10)
    warm_up = time.perf_counter() - started
    rows = data.vectors(task.kind, task.n)
    forget_peak()
    started = time.perf_counter()
    picks = pick(rows, task.k)
    seconds, most = time.perf_counter() - started, peak()
    outcome = Outcome(
        seconds=seconds,
        peak=most,
        value=values.coverage(rows, picks),
        picks=len(set(picks.tolist())),
        warm_up=warm_up,
        blas=kernels(),
        versions=(f"{_PACKAGES[task.engine]} {importlib.metadata.version(_PACKAGES[task.engine])}",),
    )
    sys.stdout.write("\n" + outcome.to_json() + "\n")


def apricot_cosine(rows: Rows, k: int) -> Picks:
    """As its users call it. Its cosine is 1 - (1 - x.y)^2."""
    from apricot import FacilityLocationSelection

    return np.asarray(FacilityLocationSelection(k, metric="cosine").fit(rows).ranking, np.int64)


def apricot_matrix(rows: Rows, k: int) -> Picks:
    """With the clipped cosine, which it cannot compute itself, as a matrix."""
    from apricot import FacilityLocationSelection

    return np.asarray(FacilityLocationSelection(k, metric="precomputed").fit(_clipped(rows)).ranking, np.int64)


def submodlib_cosine(rows: Rows, k: int) -> Picks:
    """As its users call it, with the faster of its exact optimizers."""
    from submodlib import FacilityLocationFunction

    function = FacilityLocationFunction(n=len(rows), mode="dense", separate_rep=False, data=rows, metric="cosine")
    return _maximum(function, k)


def submodlib_matrix(rows: Rows, k: int) -> Picks:
    """With a matrix that NumPy computed, which is far faster than its own."""
    from submodlib import FacilityLocationFunction

    return _maximum(FacilityLocationFunction(n=len(rows), mode="dense", separate_rep=False, sijs=_clipped(rows)), k)


WAYS: dict[tuple[str, str], Callable[[Rows, int], Picks]] = {
    ("apricot", "cosine"): apricot_cosine,
    ("apricot", "matrix"): apricot_matrix,
    ("submodlib", "cosine"): submodlib_cosine,
    ("submodlib", "matrix"): submodlib_matrix,
}


def _maximum(function: object, k: int) -> Picks:
    maximize = function.maximize  # type: ignore[attr-defined]
    return np.array([row for row, _ in maximize(budget=k, optimizer="LazyGreedy", show_progress=False)], np.int64)


def _clipped(rows: Rows) -> Rows:
    similarities: Rows = rows @ rows.T
    np.maximum(similarities, 0, out=similarities)
    return similarities


if __name__ == "__main__":
    main(sys.argv[1])
