"""How many picks each group gets, where a method picks inside groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem
from benchcore.submodular.constraints.rounds import shares


def group_counts(problem: Problem) -> NDArray[np.int64]:
    """(turns,) further picks of each group, as equal as the groups' sizes and the includes allow.

    Which groups get one more than others is drawn from the seed. Unbalanced, there is one group that gets all.

    Args:
        problem: its `turns` number the groups.
    """
    given = problem.given
    left = np.bincount(problem.turns[problem.available], minlength=len(given))
    share = shares(given, left, problem.k - len(problem.include))
    counts = share.sure.copy()
    waiting = np.flatnonzero(share.waiting)
    drawn = np.random.default_rng(problem.seed).permutation(len(waiting))[: share.extra]
    counts[waiting[drawn]] += 1
    return counts
