"""Swaps inside groups that bring the picks' mean in a kernel's space nearer to that of the pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.mean_kernel import MeanKernel
from benchcore.methods.problem import Problem

_SWEEPS = 10
_AT_ONCE = 256  # rows of the kernel
_LEAST = 1e-10  # of the squared discrepancy, in which 1 is the kernel of an item with itself


def swap(problem: Problem, kernel: MeanKernel, picks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace picks by items of their own groups as long as that lowers w' K_ss w - 2 w' mu_s.

    The weights are those of `equal_weights`, which swaps leave as they are, like the groups' counts. Each position in
    turn takes the best item for it; there are at most ten sweeps over the positions. Includes stay.

    Args:
        kernel: over the problem's rows.
        picks: (k,) the includes first.

    Returns:
        (k,) position by position in the group of the pick that it replaces.
    """
    order, weights = picks.copy(), equal_weights(problem, picks)
    mean, fixed = kernel.mean(problem.mass), len(problem.include)
    rows = kernel.rows(order[fixed:])  # those of the includes are not needed again
    similar = weights[fixed:] @ rows.astype(np.float64)
    for start in range(0, fixed, _AT_ONCE):
        some = slice(start, min(start + _AT_ONCE, fixed))
        similar += weights[some] @ kernel.rows(order[some]).astype(np.float64)
    free = problem.available
    free[order] = False
    turns = problem.turns
    members = [np.flatnonzero(turns == turn) for turn in range(len(problem.given))]
    for _ in range(_SWEEPS):
        swapped = False
        for position in range(fixed, len(order)):
            pick, weight = int(order[position]), float(weights[position])
            candidates = members[turns[pick]]
            candidates = candidates[free[candidates]]
            if weight == 0 or not candidates.size:
                continue
            # Only the terms that depend on the item at this position; the kernel of an item with itself is 1.
            worth = similar[candidates] - weight * rows[position - fixed, candidates] - mean[candidates]
            best = int(np.argmin(worth))
            own = similar[pick] - weight - mean[pick]
            if 2 * weight * (worth[best] - own) > -_LEAST:
                continue
            new = int(candidates[best])
            row = kernel.rows(np.array([new]))[0]
            similar += weight * (row.astype(np.float64) - rows[position - fixed])
            order[position], rows[position - fixed] = new, row
            free[pick], free[new] = True, False
            swapped = True
        if not swapped:
            break
    return order


def equal_weights(problem: Problem, picks: NDArray[np.int64]) -> NDArray[np.float64]:
    """(k,) each group's mass divided equally among its picks, summing to 1: 1 / (B q_b) where groups are equal.

    The mass of groups without picks goes to the others in proportion to theirs.
    """
    turns = problem.turns
    counts = np.bincount(turns[picks], minlength=len(problem.given))
    shares = np.where(counts > 0, np.bincount(turns, weights=problem.mass), 0.0)
    shares = shares / shares.sum() if shares.sum() > 0 else counts / counts.sum()
    weights: NDArray[np.float64] = (shares / np.maximum(counts, 1))[turns[picks]]
    return weights
