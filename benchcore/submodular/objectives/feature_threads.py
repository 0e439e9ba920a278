"""Gains of feature-based objectives by compiled loops on several threads. Imported only for large inputs: the compiler
takes seconds.

The loops add up in the order of features and use no fast mathematics, so that they give the bits of the arrays' way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from benchcore.submodular.compilation import compiled
from benchcore.submodular.objectives import concave
from benchcore.submodular.objectives.feature_rows import FeatureRows
from benchcore.submodular.pairs.threads import Threads

_CALLED: list[Callable[..., Any]] = [*(each.rise for each in concave.CONCAVE.values()), concave.rise_by_code]
for _function in _CALLED:
    register_jitable(_function)
_sparse_gains = compiled()(concave.sparse_gains)
_dense_gains = compiled()(concave.dense_gains)


def compiled_gains(
    rows: FeatureRows,
    candidates: NDArray[np.int64],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    grid: tuple[int, float],
) -> NDArray[np.float64]:
    """Gains of some candidates, the bits of which depend on no thread and no chunk.

    Args:
        rows: of all candidates.
        candidates: row numbers.
        weights: (f,) of features.
        sums: (f,) of the picks.
        grid: the function's code, and how many steps the amount 1 has.
    """

    def work(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        gains: NDArray[np.float64]
        if rows.dense is not None:
            gains = _dense_gains(grid, np.ascontiguousarray(rows.dense[chosen], np.float64), weights, sums)
        else:
            matrix = rows.sparse.indptr, rows.sparse.indices, rows.sparse.data
            gains = _sparse_gains(grid, chosen, matrix, weights, sums)
        return gains

    if len(candidates) <= rows.at_once:  # not worth a second thread
        return work(candidates)
    parts = [candidates[start : start + rows.at_once] for start in range(0, len(candidates), rows.at_once)]
    return np.concatenate(list(Threads().each(work, parts)))
