"""From an order of preference to an order of picks in balanced rounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem


def in_rounds(problem: Problem, preferred: NDArray[np.int64]) -> NDArray[np.int64]:
    """The includes, then the preferred items of each group round by round, `problem.k` in all.

    Args:
        preferred: distinct available items, the most wanted first; inside a round groups come in this order too. All
            that are free, or of each group just as many as `group_counts` says.

    Returns:
        (k,) or fewer, where too few are preferred.
    """
    turns, given = problem.turns, problem.given
    by_group = preferred[np.argsort(turns[preferred], kind="stable")]
    sizes = np.bincount(turns[by_group], minlength=len(given))
    within = np.arange(len(by_group)) - (np.cumsum(sizes) - sizes)[turns[by_group]]
    wanted = np.empty(problem.n, np.int64)
    wanted[preferred] = np.arange(len(preferred))
    order = by_group[np.lexsort((wanted[by_group], given[turns[by_group]] + within))]
    return np.concatenate([problem.include, order[: problem.k - len(problem.include)]]).astype(np.int64)
