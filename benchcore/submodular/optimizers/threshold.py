"""Threshold greedy: whatever is good enough, for a falling idea of enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.record import Record
from benchcore.submodular.optimizers.result import NONE, Greedy

_LEAST = 1e-4
_BATCH = 64  # candidates that are measured at once; the first that is good enough makes the others' gains stale


def threshold_greedy(
    objective: Objective, constraint: Constraint, epsilon: float, include: NDArray[np.int64] = NONE
) -> Greedy:
    """Pick, in index order, every allowed candidate whose gain reaches a threshold that falls by 1 - epsilon a pass.

    Within 1 - 1/e - epsilon of the optimum for a monotone submodular objective and cardinality (Badanidiyuru and
    Vondrak 2014, algorithm 1). The threshold starts at the largest gain and ends at epsilon / n of it; what is left of
    the budget is filled in index order. When more becomes allowed (a new round) it starts again from the largest gain.
    A candidate is not measured again while an earlier gain says that it cannot reach the threshold.

    Under cardinality prefixes are nested, under quotas and budgets they are not. Prices are not looked at.

    Args:
        objective: at the empty set; holds all picks at the end.
        constraint: at its start.
        epsilon: from 1e-4 to below 1; the time grows with 1 / epsilon.
        include: candidates that come first, whatever their gains, in this order.

    Raises:
        ValueError: `epsilon` is out of range.
    """
    if not _LEAST <= epsilon < 1:
        raise ValueError(f"epsilon must be from {_LEAST} to below 1, got {epsilon}")
    sweeps = _Sweeps(objective, constraint, include)
    while constraint.allowed().any():
        renewals = constraint.renewals
        threshold = sweeps.highest()
        floor = threshold * epsilon / objective.n
        while threshold > max(floor, 0.0) and constraint.renewals == renewals and constraint.allowed().any():
            sweeps.pick_from(threshold)
            threshold *= 1 - epsilon
        if constraint.renewals == renewals:
            sweeps.pick_from(-np.inf)
    return sweeps.record.greedy()


class _Sweeps:
    """Passes over the candidates, with bounds on their gains from when they were last measured."""

    def __init__(self, objective: Objective, constraint: Constraint, include: NDArray[np.int64]) -> None:
        self._objective, self._constraint = objective, constraint
        self.record = Record(objective, include, constraint)
        self._bounds = np.full(objective.n, np.inf)

    def highest(self) -> float:
        """At least the largest gain of what is allowed (something is); all are measured where a bound is missing."""
        allowed = np.flatnonzero(self._constraint.allowed())
        highest = float(self._bounds[allowed].max()) + self._objective.slack
        if np.isinf(highest):
            self._bounds[allowed] = self._objective.gains(allowed)
            highest = float(self._bounds[allowed].max())
        return highest

    def pick_from(self, threshold: float) -> None:
        """Pick whatever reaches the threshold, in index order, until more becomes allowed."""
        renewals, start = self._constraint.renewals, 0
        able = self._constraint.allowed() & (self._bounds + self._objective.slack >= threshold)
        candidates = np.flatnonzero(able)
        size = _BATCH if np.isfinite(threshold) else 1  # without a threshold the first will do
        while start < len(candidates) and self._constraint.renewals == renewals:
            batch = candidates[start : start + size]
            start += size
            batch = batch[self._constraint.allowed()[batch]]
            gains = self._objective.gains(batch) if batch.size else np.zeros(0)
            self._bounds[batch] = gains
            reached = np.flatnonzero(gains >= threshold)
            if reached.size:
                pick = int(batch[reached[0]])
                self.record.put(pick, float(gains[reached[0]]))
                start = int(np.searchsorted(candidates, pick, side="right"))
