"""What a choice of tasks must keep to: tasks that must or must not be picked, rivals, and a budget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.methods.names import require_known

Indices = NDArray[np.int64]
_LISTED = 5
_ROUNDING = 1e-9  # share of a budget: three times .1 is no more than .3


@dataclass(frozen=True, eq=False)
class Rules:
    """Limits, as positions of tasks.

    Attributes:
        include: must be picked, and come first.
        available: (tasks,) may be picked further.
        rivals: (tasks,) numbers from 0 on of groups of which at most one task is picked, -1 for tasks in none; or None.
        costs: (tasks,), with a budget.
        budget: largest sum of costs, with a little room for rounding in that sum; None: there is none.
    """

    include: Indices
    available: NDArray[np.bool_]
    rivals: Indices | None = None
    costs: NDArray[np.float64] | None = None
    budget: float | None = None

    @property
    def most(self) -> int:
        """How many tasks can be picked at most, whatever they cost."""
        free = self.available
        if self.rivals is None:
            return len(self.include) + int(free.sum())
        grouped = free & (self.rivals >= 0)
        return len(self.include) + int((free & (self.rivals < 0)).sum()) + len(np.unique(self.rivals[grouped]))


def rules_for(
    matrix: ScoreMatrix,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    budget: float | None = None,
    at_most_one: Sequence[Collection[str]] | None = None,
) -> Rules:
    """Limits of a choice among a leaderboard's tasks.

    Args:
        matrix: the leaderboard.
        include: tasks that must be picked.
        exclude: tasks that must not.
        budget: largest sum of the picks' costs.
        at_most_one: groups of tasks of each of which at most one is picked.

    Raises:
        UsageError: a task is unknown or named twice, limits contradict each other, or the costs are not known.
    """
    first, out = _positions(matrix, include, "--include"), _positions(matrix, exclude, "--exclude")
    both = [matrix.tasks[task] for task in np.intersect1d(first, out)]
    if both:
        raise UsageError(f"tasks are both included and excluded: {', '.join(both[:_LISTED])}", "--include")
    available = np.ones(len(matrix.tasks), bool)
    available[first] = available[out] = False
    rivals = None if at_most_one is None else _rivals(matrix, at_most_one)
    if rivals is not None:
        taken = rivals[first][rivals[first] >= 0]
        if len(np.unique(taken)) < len(taken):
            raise UsageError("two included tasks are of a group of which at most one is picked", "--include")
        available &= ~np.isin(rivals, taken)
    if budget is None:
        return Rules(first, available, rivals)
    if matrix.costs is None:
        raise UsageError("there is a budget, but no costs are known", "--budget", "Give the costs of the tasks.")
    spent, most = float(matrix.costs[first].sum()), budget * (1 + _ROUNDING)
    if spent > most:
        raise UsageError(f"the included tasks cost {spent:g}, more than the budget of {budget:g}", "--budget")
    if not len(first) and float(matrix.costs[available].min(initial=np.inf)) > most:
        raise UsageError(f"no task costs {budget:g} or less", "--budget")
    return Rules(first, available, rivals, matrix.costs, most)


def _positions(matrix: ScoreMatrix, names: Sequence[str], where: str) -> Indices:
    place = {task: position for position, task in enumerate(matrix.tasks)}
    for name in names:
        require_known(name, place, "task", where)
    if len(set(names)) < len(names):
        raise UsageError("a task is named twice", where)
    return np.array([place[name] for name in names], np.int64)


def _rivals(matrix: ScoreMatrix, groups: Sequence[Collection[str]]) -> Indices:
    rivals = np.full(len(matrix.tasks), -1, np.int64)
    for number, group in enumerate(groups):
        members = _positions(matrix, list(dict.fromkeys(group)), "--at-most-one")
        if (rivals[members] >= 0).any():
            name = matrix.tasks[members[rivals[members] >= 0][0]]
            raise UsageError(f"the task '{name}' is in two groups", "--at-most-one")
        rivals[members] = number
    return rivals
