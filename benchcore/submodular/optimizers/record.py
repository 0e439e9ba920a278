"""Picks as they are made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.result import Greedy


class Record:
    """Tells an objective, and a constraint where there is one, of every pick, and keeps its gain.

    Args:
        objective: at the empty set.
        include: candidates that come first, in this order.
        constraint: at its start.
    """

    def __init__(self, objective: Objective, include: NDArray[np.int64], constraint: Constraint | None = None) -> None:
        self._objective, self._constraint = objective, constraint
        self._order: list[int] = []
        self._gains: list[float] = []
        for candidate in include:
            self.put(int(candidate))

    def put(self, candidate: int, gain: float | None = None) -> None:
        """Pick a candidate; its gain is measured unless it is known."""
        if gain is None:
            gain = float(self._objective.gains(np.array([candidate], np.int64))[0])
        self._objective.add(candidate)
        if self._constraint is not None:
            self._constraint.take(candidate)
        self._order.append(candidate)
        self._gains.append(gain)

    def greedy(self) -> Greedy:
        """What has been picked so far."""
        return Greedy(np.array(self._order, np.int64), np.array(self._gains, np.float64))
