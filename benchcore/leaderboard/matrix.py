"""A leaderboard as arrays: scores of models on tasks, all of them in [0, 1] with more being better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Costs = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """How a task's own scores relate to those of a matrix.

    Attributes:
        low, high: own scores that become the matrix's worst and best where higher is better.
        lower_is_better: whether the best own score is `low`.
    """

    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False

    def inward(self, scores: Scores) -> Scores:
        """Own scores as scores in [0, 1], more being better."""
        share = (scores - self.low) / (self.high - self.low)
        return np.asarray(1.0 - share if self.lower_is_better else share, np.float64)

    def outward(self, scores: Scores) -> Scores:
        """Scores in [0, 1] as own scores."""
        share = 1.0 - scores if self.lower_is_better else scores
        return np.asarray(self.low + share * (self.high - self.low), np.float64)


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """A leaderboard.

    Attributes:
        name: of the leaderboard, in tables and files.
        models: distinct names.
        tasks: distinct names.
        scores: (models, tasks) in [0, 1] after scale and direction, NaN where missing.
        families: of each model, for splits that hold out whole families.
        costs: (tasks,) positive, in the user's own unit; None where not known.
        groups: of each task, for at most one pick from a group; empty for a task in none; None where there are none.
        repairs: what was mended while reading, a sentence each.
        scales: of each task; empty: all scores were in [0, 1] with more being better.
        cost_unit: of the costs, as the user names it; empty where it has no name.
    """

    name: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: Scores
    families: tuple[str, ...]
    costs: Costs | None = None
    groups: tuple[str, ...] | None = None
    repairs: tuple[str, ...] = field(default=())
    scales: tuple[Scale, ...] = field(default=())
    cost_unit: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.models), len(self.tasks))
        if self.scores.shape != shape:
            raise ValueError(f"scores have shape {self.scores.shape}, models and tasks are {shape}")
        if len(set(self.models)) < shape[0] or len(set(self.tasks)) < shape[1]:
            raise ValueError("names of models and of tasks must be distinct")
        if len(self.families) != shape[0]:
            raise ValueError(f"{len(self.families)} families for {shape[0]} models")
        for what, values in (("costs", self.costs), ("groups", self.groups), ("scales", self.scales or None)):
            if values is not None and len(values) != shape[1]:
                raise ValueError(f"{len(values)} {what} for {shape[1]} tasks")

    def of_models(self, rows: Sequence[int] | NDArray[np.int64]) -> ScoreMatrix:
        """The same leaderboard with these models only, in this order."""
        kept = [int(row) for row in rows]
        return replace(
            self,
            models=tuple(self.models[row] for row in kept),
            families=tuple(self.families[row] for row in kept),
            scores=self.scores[kept],
        )

    def of_tasks(self, columns: Sequence[int] | NDArray[np.int64]) -> ScoreMatrix:
        """The same leaderboard with these tasks only, in this order."""
        kept = [int(column) for column in columns]
        return replace(
            self,
            tasks=tuple(self.tasks[column] for column in kept),
            scores=self.scores[:, kept],
            costs=None if self.costs is None else self.costs[kept],
            groups=None if self.groups is None else tuple(self.groups[column] for column in kept),
            scales=tuple(self.scales[column] for column in kept) if self.scales else (),
        )

    def scale_of(self, task: int) -> Scale:
        """How the task's own scores relate to those of the matrix."""
        return self.scales[task] if self.scales else Scale()


def without_empty(matrix: ScoreMatrix) -> ScoreMatrix:
    """Leave out what no method can use, and say so among the repairs.

    Tasks without any score or with the same score for every model, and models without any score on the rest, go.
    """
    held = ~np.isnan(matrix.scores)
    columns = [np.unique(matrix.scores[held[:, task], task]) for task in range(len(matrix.tasks))]
    empty = [task for task, values in zip(matrix.tasks, columns, strict=True) if values.size == 0]
    constant = [task for task, values in zip(matrix.tasks, columns, strict=True) if values.size == 1]
    kept = matrix.of_tasks([column for column, values in enumerate(columns) if values.size > 1])
    silent = np.isnan(kept.scores).all(axis=1)
    unscored = [kept.models[row] for row in np.flatnonzero(silent)]
    kept = kept.of_models(np.flatnonzero(~silent))
    told = (
        (empty, "task", "without any score"),
        (constant, "task", "on which all models have the same score"),
        (unscored, "model", "without any score on the tasks that are left"),
    )
    repairs = [f"left out {counted(len(names), what)} {why}: {named(names)}" for names, what, why in told if names]
    return replace(kept, repairs=(*matrix.repairs, *repairs))


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def named(names: Sequence[str], most: int = 4) -> str:
    """The first few of many names, in order, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
