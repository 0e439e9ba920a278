"""The reference: one single-precision product of the rows with themselves, in blocks, the result thrown away."""

from __future__ import annotations

import statistics
import time

import numpy as np
from numpy.typing import NDArray

BLOCK = 2048  # rows; the case `reference` shows what others take
_SHORT_S = 3.0


def product_seconds(rows: NDArray[np.float32], block: int = BLOCK) -> float:
    """Seconds of X X^T; the median of three where one is short.

    Blocks go into memory that is there already: taking it anew for each would add its page faults to the reference.
    """
    results = np.zeros((min(block, len(rows)), len(rows)), np.float32)
    np.matmul(rows[: len(results)], rows[:64].T)  # the threads are there before the clock starts
    taken = [_once(rows, block, results)]
    if taken[0] < _SHORT_S:
        taken += [_once(rows, block, results) for _ in range(2)]
    return statistics.median(taken)


def _once(rows: NDArray[np.float32], block: int, results: NDArray[np.float32]) -> float:
    started = time.perf_counter()
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        np.matmul(part, rows.T, out=results[: len(part)])
    return time.perf_counter() - started
