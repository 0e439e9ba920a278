"""k-center, farthest first: no item is far from every pick."""

from __future__ import annotations

import numpy as np

from benchcore.methods.geometry.directions import directions
from benchcore.methods.kernel_mean.herding import rounds_of
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def kcenter(problem: Problem) -> Selection:
    """Pick the allowed item that is farthest from all picks, again and again (Gonzalez 1985): within twice the optimum.

    The first is nearest to the mean, in balanced rounds where the problem is balanced. The first j picks are those of a
    problem with k = j.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors, rounds = directions(problem), rounds_of(problem)
    mean = problem.mass @ vectors.astype(np.float64)
    nearness = vectors @ mean.astype(np.float32)  # before there is a pick, the nearest to the mean comes first
    order: list[int] = []
    similar = -nearness.astype(np.float64)
    while len(order) < problem.k:
        if len(order) < len(problem.include):
            pick = int(problem.include[len(order)])
        else:
            allowed = np.flatnonzero(rounds.allowed())
            pick = int(allowed[np.argmin(similar[allowed])])
        rounds.take(pick)
        now = (vectors @ vectors[pick]).astype(np.float64)
        similar = np.maximum(similar, now) if order else now
        order.append(pick)
    return unvalued(np.array(order, np.int64))
