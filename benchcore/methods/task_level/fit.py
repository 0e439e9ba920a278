"""How well some tasks predict the mean of all, and which further or other task would predict it better.

For a ridge regression of the mean on picks p the objective is c - r_p' A_pp^-1 r_p with one matrix A for all sets, so
that adding and swapping tasks are Schur complements: O(tasks) for a step, not a regression for each candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_regressions import SHIFT, TOTAL, WEIGHT
from benchcore.estimation.task_source import Gram

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_LEAST = 1e-12  # share of its own variance below which what is left of a task is rounding
_SWAPS = 20
_STARTS, _START_PICKS = 4, 24  # at least so many starts, and more as long as they have few picks together


@dataclass(frozen=True, eq=False)
class Fit:
    """A penalized regression of the mean over tasks on any set of picks.

    With s picks its right side is `level + even / s` on every pick: weights shrink towards 1 / s.

    Attributes:
        matrix: (tasks, tasks) A.
        level: (tasks,).
        even: weight of the even part.
        constant: squared error of no pick at all, but for the even part: even / s.
    """

    matrix: Floats
    level: Floats
    even: float
    constant: float

    @property
    def tasks(self) -> int:
        """How many there are."""
        return len(self.level)

    @cached_property
    def diagonal(self) -> Floats:
        """(tasks,) of the matrix."""
        return np.diag(self.matrix).copy()

    def right(self, size: int) -> Floats:
        """(tasks,) the right side for sets of this size."""
        return np.asarray(self.level + self.even / size, np.float64)

    def error(self, picks: Indices) -> float:
        """Penalized squared error over source models."""
        if len(picks) == 0:
            return self.constant
        right = self.right(len(picks))[picks]
        explained = right @ np.linalg.solve(self.matrix[np.ix_(picks, picks)], right)
        return float(self.constant + self.even / len(picks) - explained)


def shrunk_fit(gram: Gram, mass: Floats) -> Fit:
    """The regression of `estimation.task_regressions.toward_mean`, of the mass-weighted mean over tasks.

    Args:
        gram: of source models.
        mass: (tasks,) what each task counts in the mean.
    """
    weight, total, shift = WEIGHT * gram.spread, TOTAL * gram.spread, SHIFT * gram.spread
    tasks = len(mass)
    inner, constant = gram.products[:tasks, :tasks], gram.products[:tasks, tasks]
    target = inner @ mass
    ones = float(gram.products[tasks, tasks]) + shift
    of_ones = float(constant @ mass)
    matrix = inner + weight * np.eye(tasks) + total - np.outer(constant, constant) / ones
    level = target + total - constant * (of_ones / ones)
    return Fit(matrix, level, weight, float(mass @ target) + total - of_ones**2 / ones)


@dataclass
class Conditional:
    """Candidates given a growing set of picks, one Cholesky row a pick.

    Attributes:
        fit: the regression.
        picks: so far.
    """

    fit: Fit
    picks: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows = np.zeros((0, self.fit.tasks))
        self._left = self.fit.diagonal.copy()
        self._level, self._even = self.fit.level.copy(), np.full(self.fit.tasks, self.fit.even)

    def gains(self) -> Floats:
        """(tasks,) how much each would lower the error as the next pick, more than a useless one would."""
        right = self._level + self._even / (len(self.picks) + 1)
        return np.asarray(right**2 / np.maximum(self._left, _LEAST * self.fit.diagonal), np.float64)

    def take(self, pick: int) -> None:
        """Condition on one more pick."""
        root = np.sqrt(max(self._left[pick], _LEAST * self.fit.matrix[pick, pick]))
        row = (self.fit.matrix[pick] - self._rows[:, pick] @ self._rows) / root
        self._left -= row**2
        self._level -= row * (self._level[pick] / root)
        self._even -= row * (self._even[pick] / root)
        self._rows = np.vstack([self._rows, row])
        self.picks.append(pick)


def forward(fit: Fit, k: int, include: Indices, available: NDArray[np.bool_], rivals: Indices | None = None) -> Indices:
    """Pick the task that lowers the error most, again and again.

    Args:
        fit: the regression.
        k: how many, includes among them; fewer come back where rivals leave no more.
        include: come first.
        available: (tasks,) may be picked.
        rivals: (tasks,) numbers; of tasks with the same number from 0 on at most one is picked.
    """
    state, free = Conditional(fit), available.copy()
    for step in range(k):
        if step < len(include):
            pick = int(include[step])
        elif not free.any():
            break
        else:
            pick = int(np.argmax(np.where(free, state.gains(), -1.0)))
        state.take(pick)
        free[pick] = False
        if rivals is not None and rivals[pick] >= 0:
            free &= rivals != rivals[pick]
    return np.array(state.picks, np.int64)


def choose(fit: Fit, k: int, include: Indices, available: NDArray[np.bool_], rivals: Indices | None = None) -> Indices:
    """Pick by forward selection and exchanges from a few starts, and keep the picks with the least error.

    Besides the best first pick, some that are spread evenly over the ranking of first picks are tried: exchanges end
    where no single one helps, which with few picks can be far from the best. Picks come in an order of their own:
    includes, then the most useful first.

    Args:
        fit: the regression.
        k: how many, includes among them.
        include: come first.
        available: (tasks,) may be picked.
        rivals: as for `forward`.
    """
    tried = [swap(fit, forward(fit, k, include, available, rivals), available, fixed=len(include), rivals=rivals)]
    ranked = np.flatnonzero(available)[np.argsort(-_first_gains(fit, include)[available], kind="stable")]
    if len(tried[0]) < len(ranked) + len(include):
        starts = min(len(ranked), max(_STARTS, _START_PICKS // max(1, k - len(include))))
        for start in range(1, starts):
            first = np.append(include, ranked[start * len(ranked) // starts])
            begun = forward(fit, k, first, available, rivals)
            tried.append(swap(fit, begun, available, fixed=len(include), rivals=rivals))
    chosen = np.zeros(fit.tasks, bool)
    chosen[min(tried, key=fit.error)] = True
    chosen[include] = False
    return forward(fit, int(chosen.sum()) + len(include), include, chosen)


def _first_gains(fit: Fit, include: Indices) -> Floats:
    state = Conditional(fit)
    for task in include:
        state.take(int(task))
    return state.gains()


def swap(
    fit: Fit,
    picks: Indices,
    available: NDArray[np.bool_],
    *,
    fixed: int = 0,
    rivals: Indices | None = None,
    costs: Floats | None = None,
    budget: float = np.inf,
) -> Indices:
    """Exchange one pick for another task as long as that lowers the error, the best exchange first.

    Args:
        fit: the regression.
        picks: to start from.
        available: (tasks,) may be picked.
        fixed: the first ones stay.
        rivals: as for `forward`.
        costs: (tasks,), with a budget that the picks keep to.
        budget: largest sum of costs.
    """
    picks = picks.copy()
    if len(picks) == fixed:
        return picks
    allowed = _allowed(available, fixed, rivals, costs, budget)
    error = fit.error(picks)
    for _ in range(_SWAPS):
        errors = np.where(allowed(picks), _errors_after(fit, picks, fixed), np.inf)
        place, other = np.unravel_index(int(np.argmin(errors)), errors.shape)
        if not errors[place, other] < error - 1e-12 * abs(error):
            break
        error = float(errors[place, other])
        picks[fixed + place] = other
    return picks


def _allowed(
    available: NDArray[np.bool_],
    fixed: int,
    rivals: Indices | None,
    costs: Floats | None,
    budget: float,
) -> Callable[[Indices], NDArray[np.bool_]]:
    """From picks to (places, tasks): whether a task may take the place of a pick that is not fixed."""

    def allowed(picks: Indices) -> NDArray[np.bool_]:
        free = available.copy()
        free[picks] = False
        found = np.repeat(free[None], len(picks) - fixed, axis=0)
        for place in range(len(found) if rivals is not None or costs is not None else 0):
            rest = np.delete(picks, fixed + place)
            if rivals is not None:
                taken = rivals[rest]
                found[place] &= ~np.isin(rivals, taken[taken >= 0])
            if costs is not None:
                found[place] &= costs <= budget - costs[rest].sum()
        return found

    return allowed


def _errors_after(fit: Fit, picks: Indices, fixed: int) -> Floats:
    """(places, tasks) error of the picks with each task in the place of one of them.

    Taking a pick out of a set adds to every task's Schur complement what that pick took from it: all exchanges follow
    from one inverse.
    """
    right = fit.right(len(picks))
    across = fit.matrix[picks]
    inverse = np.linalg.inv(across[:, picks])
    slopes, level = inverse @ across, inverse @ right[picks]
    own = np.diag(inverse)[fixed:, None]
    out = slopes[fixed:]
    left = fit.diagonal - (across * slopes).sum(axis=0) + out**2 / own
    open_right = right - level @ across + out * (level[fixed:, None] / own)
    base = fit.constant + fit.even / len(picks) - float(right[picks] @ level) + level[fixed:, None] ** 2 / own
    return np.asarray(base - open_right**2 / np.maximum(left, _LEAST * fit.diagonal), np.float64)
