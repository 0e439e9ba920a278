"""Swaps inside groups that bring the picks' mean of some features to that of the group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem

_SWEEPS = 10
_LEAST = 1e-9  # of the squared imbalance of one item with features of size 1

Features = NDArray[np.float64]


def swap_to_mean(problem: Problem, features: Features, picks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace picks by items of their own groups as long as that lowers |mean of the picks - mean of the group|^2.

    Each position in turn takes the best item for it; there are at most ten sweeps over a group's positions. Includes
    stay, and so do the groups' counts.

    Args:
        problem: for its groups, mass, and which items are available.
        features: (n, f) to be matched in the mean, on scales that say how much each matters.
        picks: (k,) the includes first.

    Returns:
        (k,) position by position in the group of the pick that it replaces.
    """
    order, turns, available = picks.copy(), problem.turns, problem.available
    for turn in np.unique(turns[picks]):
        members = np.flatnonzero(turns == turn)
        positions = np.flatnonzero(turns[picks] == turn)
        mass = problem.mass[members] if problem.mass[members].sum() > 0 else np.ones(len(members))
        centred = features[members] - mass @ features[members] / mass.sum()
        kept = int((positions < len(problem.include)).sum())
        own = np.searchsorted(members, picks[positions])
        order[positions] = members[_swapped(centred, available[members], own, kept)]
    return order


def _swapped(centred: Features, free: NDArray[np.bool_], picks: NDArray[np.int64], kept: int) -> NDArray[np.int64]:
    """One group's picks after the swaps.

    Args:
        centred: (m, f) features less their mean.
        free: (m,) whether an item can be picked.
        picks: places of the picks.
        kept: how many of them stay, the first ones.
    """
    order, count, free = picks.copy(), len(picks), free.copy()
    free[order] = False
    squares = np.einsum("ij,ij->i", centred, centred) / count**2
    total = centred[order].sum(axis=0)
    for _ in range(_SWEEPS if free.any() else 0):
        swapped = False
        for position in range(kept, count):
            pick = int(order[position])
            others = (total - centred[pick]) / count
            # |others + x / count|^2 less what all x have in common; einsum, so that equal rows tie to the last bit.
            worth = squares + (2 / count) * np.einsum("ij,j->i", centred, others)
            best = int(np.argmin(np.where(free, worth, np.inf)))
            if worth[best] > worth[pick] - _LEAST / count**2:
                continue
            free[pick], free[best] = True, False
            total += centred[best] - centred[pick]
            order[position], swapped = best, True
        if not swapped:
            break
    return order
