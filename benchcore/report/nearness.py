"""Which pick stands for which prompt, how well, and how well the first picks alone would have done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import UNIT, Rows

_CELLS = 4_000_000  # similarities held at a time


@dataclass(frozen=True, eq=False)
class Territories:
    """What each pick stands for.

    Attributes:
        nearest: (n,) rank of the pick most similar to each row; the earlier of equals.
        coverage: (n,) that similarity, at most 1.
        prefixes: (k,) mass-weighted mean coverage by the first pick, the first two, and so on.
    """

    nearest: NDArray[np.int64]
    coverage: NDArray[np.float64]
    prefixes: NDArray[np.float64]


def territories(rows: Rows, picks: NDArray[np.int64], mass: NDArray[np.float64]) -> Territories:
    """Give every row to the pick nearest to it.

    A similarity below zero covers nothing, as in the objective.

    Args:
        rows: (n, d) as `quantise` makes them.
        picks: (k,) row numbers, by rank.
        mass: (n,) summing to 1.
    """
    centres = np.ascontiguousarray(rows[picks].T)
    nearest, coverage = np.empty(len(rows), np.int64), np.empty(len(rows))
    prefixes = np.zeros(len(picks))
    step = max(1, _CELLS // len(picks))
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        similarity = rows[block] @ centres
        nearest[block] = np.argmax(similarity, axis=1)
        best = np.maximum(np.maximum.accumulate(similarity, axis=1), 0.0)
        coverage[block] = best[:, -1].astype(np.float64) / UNIT
        prefixes += mass[block] @ best.astype(np.float64)
    return Territories(nearest, coverage, prefixes / UNIT)
