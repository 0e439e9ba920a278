"""A balanced draw, moved by swaps until a panel of models scores on the picks what it scores on the pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.source_scores import complete_scores
from benchcore.methods.stratified_random import stratified_random
from benchcore.methods.unvalued import unvalued

_SWEEPS = 10
_LEAST = 1e-9  # of the imbalance of one item


def panel_balanced(problem: Problem) -> Selection:
    """Draw in balance, then swap items inside groups as long as that brings the picks' panel scores to the group's.

    What is matched in each group are the mean of every panel model's scores, and the mean and the spread of the items'
    panel means. The spread is the guard for skewed scores: matching means alone, swaps fill up with extreme items.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    indices = stratified_random(problem).indices
    features = balanced_features(complete_scores(problem))
    for turn in np.unique(problem.turns[indices]):
        members = np.flatnonzero(problem.turns == turn)
        positions = np.flatnonzero(problem.turns[indices] == turn)
        free = positions[positions >= len(problem.include)]
        indices[positions] = _swapped(problem, features, members, indices[positions], len(positions) - len(free))
    return unvalued(indices)


def balanced_features(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, models + 2) what is to be matched, each column on a scale of its own."""
    item = scores.mean(axis=1)
    mean = (item - item.mean())[:, None]
    columns = np.column_stack([mean, mean**2, scores - scores.mean(axis=0)])
    spread = columns.std(axis=0)
    scaled = columns / np.where(spread > 1e-12, spread, np.inf)
    scaled[:, 2:] /= np.sqrt(scores.shape[1])
    standard: NDArray[np.float64] = scaled
    return standard


def _swapped(
    problem: Problem, features: NDArray[np.float64], members: NDArray[np.int64], picks: NDArray[np.int64], fixed: int
) -> NDArray[np.int64]:
    """One group's picks after at most ten sweeps, each position in turn taking the item that leaves least imbalance.

    Args:
        problem: for which items are available, and their mass.
        features: (n, f) to be matched in the mean.
        members: of the group.
        picks: of the group, those that stay first.
        fixed: how many stay.
    """
    mass = problem.mass[members] if problem.mass[members].sum() > 0 else np.ones(len(members))
    target = mass @ features[members] / mass.sum()
    order, count = picks.copy(), len(picks)
    free = problem.available.copy()
    free[order] = False
    off = features[order].mean(axis=0) - target
    for _ in range(_SWEEPS):
        swapped = False
        for position in range(fixed, count):
            candidates = members[free[members]]
            if not candidates.size:
                break
            moved = off + (features[candidates] - features[order[position]]) / count
            worth = np.einsum("ij,ij->i", moved, moved)
            best = int(np.argmin(worth))
            if worth[best] > off @ off - _LEAST / count**2:
                continue
            free[order[position]], free[candidates[best]] = True, False
            order[position], off, swapped = candidates[best], moved[best], True
        if not swapped:
            break
    return order
