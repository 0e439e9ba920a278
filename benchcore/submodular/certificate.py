"""How far from optimal a selection can be at most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.rounds import quotas


def best_feasible(
    gains: NDArray[np.float64],
    groups: NDArray[np.int64],
    candidates: NDArray[np.bool_],
    counts: NDArray[np.int64],
    k: int,
) -> NDArray[np.int64]:
    """The k candidates of the largest sum of gains among the sets that balanced rounds allow.

    Each group's certain quota takes its largest gains; the additional picks go to the groups whose next gain is
    largest. With a single group these are the k largest gains.

    Args:
        gains: (n,) not negative.
        groups: (n,) group numbers from 0.
        candidates: (n,) bool, what the set may hold.
        counts: (groups,) picks that each group has beforehand (includes).
        k: size of the set, at most the number of candidates.
    """
    pool = np.flatnonzero(candidates)
    left = np.bincount(groups[pool], minlength=len(counts))
    share = quotas(counts, left, k)
    ranked = pool[np.lexsort((pool, -gains[pool], groups[pool]))]
    group = groups[ranked]
    place = np.arange(len(ranked)) - (np.cumsum(left) - left)[group]
    certain = ranked[place < share.sure[group]]
    following = ranked[(place == share.sure[group]) & share.waiting[group]]
    return np.concatenate([certain, following[np.lexsort((following, -gains[following]))][: share.extra]])


def upper_bound(
    value: float,
    gains: NDArray[np.float64],
    *,
    groups: NDArray[np.int64],
    candidates: NDArray[np.bool_],
    counts: NDArray[np.int64],
    k: int,
) -> float:
    """Bound the objective of every feasible set by f(A) + the largest feasible sum of gains at A.

    Any set is worth at most f(A) plus the gains of its members at A, since f is monotone and submodular (Nemhauser,
    Wolsey and Fisher 1978). A must hold the includes, which every feasible set does.

    Args:
        value: f(A).
        gains: (n,) of every candidate at A.
        groups: (n,) group numbers from 0.
        candidates: (n,) bool, what a feasible set may hold beside the includes.
        counts: (groups,) includes of each group.
        k: size of a feasible set without the includes.
    """
    return value + float(gains[best_feasible(gains, groups, candidates, counts, k)].sum())
