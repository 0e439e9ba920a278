"""Lazy greedy: the naive greedy's picks from few of its gains."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Cardinality, Constraint
from benchcore.submodular.objectives.objective import Bounded, Objective
from benchcore.submodular.optimizers.front import Front
from benchcore.submodular.optimizers.result import NONE, Advance, Greedy, Landmark

_BATCH = 64  # stale candidates that are measured at once; doubled while they do not decide a pick
_LARGEST_BATCH = 4096
_NEVER = np.finfo(np.float64).min  # the bound of a pick: finite, so that adding an infinite slack leaves no NaN


def lazy_greedy(
    objective: Bounded,
    constraint: Constraint,
    include: NDArray[np.int64] = NONE,
    *,
    by_cost: bool = False,
    target: float | None = None,
    landmarks: bool = True,
    advance: Advance | None = None,
) -> Greedy:
    """Pick the allowed candidate of the largest gain until none is allowed, measuring only what may be largest.

    A gain that was measured earlier bounds today's from above, up to the objective's slack (Minoux 1978). The picks
    are those of `naive_greedy`, ties included.

    Args:
        objective: at the empty set; holds all picks at the end.
        constraint: at its start.
        include: candidates that come first, whatever their gains, in this order.
        by_cost: compare gains per cost, where the constraint has costs.
        target: stop as soon as the value reaches this.
        landmarks: keep bounds on all gains at a few moments, for certificates.
        advance: told of every pick, to show progress.
    """
    run = _Run(objective, constraint, by_cost, advance)
    for candidate in include:
        run.put(int(candidate), float(objective.gains(np.array([candidate]))[0]))
    run.measure_all()
    notes = [run.landmark()]
    while target is None or objective.value < target:
        best = run.best()
        if best is None:
            break
        run.put(*best)
        if landmarks and len(run.order) & (len(run.order) - 1) == 0:
            notes.append(run.landmark())
    if landmarks:
        notes.append(run.landmark())
    return Greedy(np.array(run.order, np.int64), np.array(run.gains, np.float64), tuple(notes if landmarks else ()))


def with_landmarks_beyond(run: Greedy, objective: Objective) -> Greedy:
    """A run with more landmarks, from half as many picks beyond its own: they may bound sets of its size better.

    At its end the gains of what was not picked may still be large, and the k largest of them add up; a few picks later
    they have fallen. The bound holds from any set, so the constraint is not asked. A run without landmarks, or of an
    objective that has no certificate, is left as it is.

    Args:
        run: of `lazy_greedy`.
        objective: holds the picks of the run, and more in the end.
    """
    further = -(-len(run.order) // 2)
    if not run.landmarks or not objective.monotone or math.isinf(objective.slack) or not further:
        return run
    rest = np.ones(objective.n, bool)
    rest[run.order] = False
    later = _Run(objective, Cardinality(rest, further), by_cost=False, advance=None)
    later.follow(run)
    notes = list(run.landmarks)
    for picks in range(1, further + 1):
        best = later.best()
        if best is None:
            break
        later.put(*best)
        if picks in (further // 4, further // 2, further):
            notes.append(later.landmark())
    return replace(run, landmarks=tuple(notes))


class _Run:
    """Bounds on all gains, and what has been picked so far."""

    def __init__(self, objective: Bounded, constraint: Constraint, by_cost: bool, advance: Advance | None) -> None:
        self.order: list[int] = []
        self.gains: list[float] = []
        self._objective, self._constraint, self._advance = objective, constraint, advance
        self._costs = constraint.costs if by_cost else None
        self._slack = objective.slack
        self._bounds = np.full(objective.n, np.inf)
        self._measured = np.full(objective.n, -1, np.int64)  # how many picks there were when a gain was last measured
        self._picked = np.zeros(objective.n, bool)
        self._front = Front()

    def follow(self, run: Greedy) -> None:
        """Begin where another run ended; the objective and the constraint know of its picks."""
        self.order, self.gains = run.order.tolist(), run.gains.tolist()
        self._picked[run.order] = True
        self._bounds[:] = run.landmarks[-1].bounds
        self._bounds[run.order] = _NEVER

    def put(self, candidate: int, gain: float) -> None:
        """Pick a candidate."""
        self._objective.add(candidate)
        self._constraint.take(candidate)
        self._picked[candidate] = True
        self._bounds[candidate] = _NEVER
        self.order.append(candidate)
        self.gains.append(gain)
        if self._advance is not None:
            self._advance(1)

    def best(self) -> tuple[int, float] | None:
        """The next pick and its gain; None when nothing is allowed."""
        allowed = self._constraint.allowed()
        batch, tightened = _BATCH, False
        while True:
            members, keys = self._front.look(allowed, self._constraint.renewals, self._keys, self._ceilings)
            if not members.size:
                return None
            top = int(np.argmax(keys))  # the first of equals
            if self._measured[members[top]] == len(self.order):
                return int(members[top]), float(self._bounds[members[top]])
            if batch > _BATCH and not tightened:
                tightened = True
                if self._objective.tighten(self._bounds):
                    continue
            self._measure(self._stale(members, keys, batch))
            batch = min(2 * batch, _LARGEST_BATCH)

    def landmark(self) -> Landmark:
        """Bounds on all gains now; those that a set of twice as many picks would be made of are measured."""
        wanted = 2 * len(self.order) + _BATCH
        if math.isinf(self._slack) or wanted >= self._objective.n:
            self.measure_all()
        else:
            largest = np.argpartition(self._bounds, -wanted)[-wanted:]
            self._measure(np.sort(largest[self._is_stale(largest) & ~self._picked[largest]]))
        bounds = np.where(self._measured < len(self.order), self._bounds + self._slack, self._bounds)
        bounds[self._picked] = 0.0
        return Landmark(self._objective.value, bounds)

    def measure_all(self) -> None:
        """Bring all gains up to date."""
        self._measure(np.flatnonzero(~self._picked & (self._measured < len(self.order))))

    def _measure(self, candidates: NDArray[np.int64]) -> None:
        if candidates.size:
            self._bounds[candidates] = self._objective.gains(candidates)
            self._measured[candidates] = len(self.order)

    def _stale(self, members: NDArray[np.int64], keys: NDArray[np.float64], batch: int) -> NDArray[np.int64]:
        """Those of the largest keys that were not measured since the last pick."""
        stale = self._is_stale(members)
        if not math.isinf(self._slack) and len(members) > batch:
            stale &= _largest(keys, batch)
        return members[stale]

    def _is_stale(self, candidates: NDArray[np.int64]) -> NDArray[np.bool_]:
        stale: NDArray[np.bool_] = self._measured[candidates] < len(self.order)
        return stale

    def _keys(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What decides: gains that are known, and bounds on those that are not; per cost where that is asked."""
        keys = self._bounds[candidates]
        if self._slack:
            keys = np.where(self._is_stale(candidates), keys + self._slack, keys)
        return keys if self._costs is None else keys / self._costs[candidates]

    def _ceilings(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        ceilings = self._bounds[candidates] + self._slack
        return ceilings if self._costs is None else ceilings / self._costs[candidates]


def _largest(keys: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Which are the `count` largest; of equals, the first."""
    least = np.partition(keys, -count)[-count]
    chosen: NDArray[np.bool_] = keys > least
    chosen[np.flatnonzero(keys == least)[: count - int(chosen.sum())]] = True
    return chosen
