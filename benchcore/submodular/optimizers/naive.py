"""The greedy algorithm as it is written down: every gain anew for every pick. The reference that others must equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Measured
from benchcore.submodular.optimizers.result import NONE, Advance, Greedy


def naive_greedy(
    objective: Measured,
    constraint: Constraint,
    include: NDArray[np.int64] = NONE,
    *,
    by_cost: bool = False,
    target: float | None = None,
    advance: Advance | None = None,
) -> Greedy:
    """Pick the allowed candidate of the largest gain until none is allowed (Nemhauser, Wolsey and Fisher 1978).

    Ties go to the smallest index; gains of zero fill the rest by the same rule.

    Args:
        objective: at the empty set; holds all picks at the end.
        constraint: at its start.
        include: candidates that come first, whatever their gains, in this order.
        by_cost: compare gains per cost, where the constraint has costs.
        target: stop as soon as the value reaches this.
        advance: told of every pick, to show progress.
    """
    order: list[int] = []
    gains: list[float] = []

    def put(candidate: int, gain: float) -> None:
        objective.add(candidate)
        constraint.take(candidate)
        order.append(candidate)
        gains.append(gain)
        if advance is not None:
            advance(1)

    for candidate in include:
        put(int(candidate), float(objective.gains(np.array([candidate]))[0]))
    while target is None or objective.value < target:
        allowed = np.flatnonzero(constraint.allowed())
        if not allowed.size:
            break
        now = objective.gains(allowed)
        keys = now / constraint.costs[allowed] if by_cost and constraint.costs is not None else now
        best = int(np.argmax(keys))  # the first of equals
        put(int(allowed[best]), float(now[best]))
    return Greedy(np.array(order, np.int64), np.array(gains, np.float64))
