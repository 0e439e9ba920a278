"""Greedy maximization: the one that is used, and the naive one that it equals pick by pick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objective import Objective
from benchcore.submodular.rounds import Rounds

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Greedy:
    """What a greedy run leaves.

    Attributes:
        order: picks in the order of picking; includes come first.
        gains: increase of the objective with each pick, whole numbers.
    """

    order: NDArray[np.int64]
    gains: NDArray[np.float64]


def greedy(
    objective: Objective,
    k: int,
    rounds: Rounds,
    include: NDArray[np.int64] = _NONE,
    *,
    advance: Callable[[int], None] | None = None,
) -> Greedy:
    """Pick the allowed candidate of the largest gain, k times.

    Ties go to the smallest index; gains of zero fill the rest by the same rule.

    Args:
        objective: at its start; holds all picks at the end.
        k: how many to pick, includes among them; fewer are picked when fewer are available.
        rounds: what may be picked; includes must not be available in it. Changed by every pick.
        include: candidates that come first, whatever their gains, in this order.
        advance: told of every pick, to show progress.
    """
    order: list[int] = []
    gains: list[float] = []
    while len(order) < k:
        allowed = include[len(order) : len(order) + 1] if len(order) < len(include) else rounds.allowed()
        if not allowed.size:
            break
        now = objective.gains(allowed) if len(order) < len(include) else objective.all_gains()[allowed]
        best = int(np.argmax(now))  # the first of equals
        objective.add(int(allowed[best]))
        rounds.take(int(allowed[best]))
        order.append(int(allowed[best]))
        gains.append(float(now[best]))
        if advance is not None:
            advance(1)
    return Greedy(np.array(order, np.int64), np.array(gains, np.float64))


def naive_greedy(
    similarity: NDArray[np.float64],
    mass: NDArray[np.float64],
    k: int,
    rounds: Rounds,
    include: NDArray[np.int64] = _NONE,
) -> Greedy:
    """Facility location's greedy picks from a full matrix, every gain computed anew: a reference for tests.

    Args:
        similarity: (represented, candidates), not clipped.
        mass: (represented,).
        k: as for `greedy`, like `rounds` and `include`.
    """
    clipped = np.maximum(similarity, 0.0)
    coverage = np.zeros(len(clipped))
    order: list[int] = []
    gains: list[float] = []
    while len(order) < k:
        allowed = include[len(order) : len(order) + 1] if len(order) < len(include) else rounds.allowed()
        if not allowed.size:
            break
        now = mass @ np.maximum(clipped[:, allowed] - coverage[:, None], 0.0)
        best = int(np.argmax(now))
        rounds.take(int(allowed[best]))
        order.append(int(allowed[best]))
        gains.append(float(now[best]))
        coverage = np.maximum(coverage, clipped[:, allowed[best]])
    return Greedy(np.array(order, np.int64), np.array(gains, np.float64))
