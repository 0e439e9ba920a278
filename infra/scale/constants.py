"""Measure the speeds that `benchcore/distributed/costs.py` counts with: `python -m infra.scale.constants`.

Data are made up: 60 clusters of 384 numbers. Compilation is not counted. Everything runs on one thread but the product
of `multiply`, which runs on all; two threads of one core share it, so that its rate a CPU is that of full load.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from benchcore.distributed.costs import Rates
from benchcore.distributed.sizing import measured_rates
from benchcore.methods import METHODS
from benchcore.methods.problem import Problem
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.pairs.passes import Passes
from benchcore.submodular.pairs.threads import single_threaded_blas
from benchcore.submodular.quantise import quantise
from benchcore.submodular.similarities.dot import DotSimilarity

_DIMENSION, _ROWS, _CANDIDATES, _DEPTH = 384, 20_000, 4096, 1024
_FEW = 8  # numbers a row where loops are timed: products then take next to nothing, and none need be taken off
_KERNEL_ROWS = 8000


def say(line: str) -> None:
    """Write a line to stdout."""
    sys.stdout.write(line + "\n")


def main() -> None:
    """Print each constant as it is and as this machine has it."""
    multiply = measured_rates().multiply
    with single_threaded_blas():
        alone = _ROWS * _CANDIDATES * _DIMENSION / _seconds(_product())
        found = {"multiply": multiply, "loop": _loop(), "kernel": _kernel(), "read": _quantising()}
        touches = _touches(alone, found["loop"])
    for name, value in asdict(Rates()).items():
        say(f"{name:10} {value:10.3g}   measured {found[name]:10.3g}" if name in found else f"{name:10} {value:10.3g}")
    say(f"one thread alone multiplies {alone:.3g} a second; loops over a pair of a shard: {touches:.1f} (see costs)")


def _vectors(rows: int, dimension: int = _DIMENSION) -> np.ndarray:
    random = np.random.default_rng(rows)
    centres = random.normal(size=(60, dimension))
    return (centres[random.integers(0, 60, rows)] + random.normal(size=(rows, dimension))).astype(np.float32)


def _quantised(rows: int, dimension: int = _DIMENSION) -> np.ndarray:
    vectors = _vectors(rows, dimension)
    return quantise(vectors, vectors.mean(axis=0).astype(np.float64))


def _seconds(work: Callable[[], object], times: int = 3) -> float:
    work()  # compiles
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def _product() -> Callable[[], object]:
    rows, candidates = _vectors(_ROWS), _vectors(_CANDIDATES)
    return lambda: [candidates @ rows[start : start + 2048].T for start in range(0, _ROWS, 2048)]


def _loop() -> float:
    """Pairs a second of what a pass does beside its products."""
    similarity = DotSimilarity(_quantised(_CANDIDATES, _FEW), _quantised(_ROWS, _FEW), clipped=False)
    passes, coverage = Passes(similarity, np.full(_ROWS, 100.0)), np.zeros(_ROWS, np.float32)
    taken = _seconds(lambda: passes.gains(np.arange(_CANDIDATES), coverage))
    return _ROWS * _CANDIDATES / taken


def _touches(multiply: float, loop: float) -> float:
    """Loops over each pair of a shard in its local round, beside one product."""
    rows, mass = _quantised(_ROWS), np.full(_ROWS, 100.0)

    def local() -> None:
        objective = FacilityLocation(DotSimilarity(rows, clipped=False), mass, memory=2**30)
        free = Rounds(np.zeros(_ROWS, np.int64), np.ones(_ROWS, bool), _DEPTH, np.zeros(1, np.int64))
        lazy_greedy(objective, free, landmarks=False)

    return (_seconds(local, 1) / _ROWS**2 - _DIMENSION / multiply) * loop


def _kernel() -> float:
    """Pairs a second that become kernel values, beside their products, in the default method on a whole pool."""
    n = _KERNEL_ROWS
    nothing = np.zeros(0, np.int64)
    problem = Problem(
        ids=np.array([f"{row:06d}" for row in range(n)]),
        groups=np.array([f"b{row % 40:02d}" for row in range(n)]),
        mass=np.full(n, 1 / n),
        features={name: _vectors(n, _FEW) for name in ("embedding", "surface", "ngrams")},
        k=140,
        balanced=True,
        include=nothing,
        exclude=nothing,
        seed=0,
    )
    taken = _seconds(lambda: METHODS["nested_swaps"](problem), 1)
    return n**2 / 2 / taken


def _quantising() -> float:
    """Bytes of vectors a second that become rows; reading them from a local table takes about as long again."""
    vectors = _vectors(_ROWS)
    return vectors.nbytes / _seconds(lambda: quantise(vectors, np.zeros(_DIMENSION))) / 2


if __name__ == "__main__":
    main()
