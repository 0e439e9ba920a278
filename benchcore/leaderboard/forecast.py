"""What scores on the picks say about new models: every other task and the mean, with intervals and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.default import Widths
from benchcore.leaderboard.matrix import Scores, named
from benchcore.leaderboard.picks_file import PicksFile
from benchcore.leaderboard.seen import warnings

_DEVIATIONS = 1.645  # that hold 90 % of a Gaussian


@dataclass(frozen=True)
class TaskForecast:
    """A task's score.

    Attributes:
        task: its name.
        score: in the task's own unit.
        low, high: 90 % interval, in the same; equal to the score where it was measured.
        measured: whether the score was given.
    """

    task: str
    score: float
    low: float
    high: float
    measured: bool


@dataclass(frozen=True)
class Forecast:
    """A model's scores.

    Attributes:
        model: its name.
        mean: over all tasks, in points: 0 is the worst score of a task, 100 the best.
        mean_low, mean_high: 90 % interval.
        tasks: in the matrix's order.
        warnings: what to mind, a sentence each.
    """

    model: str
    mean: float
    mean_low: float
    mean_high: float
    tasks: tuple[TaskForecast, ...]
    warnings: tuple[str, ...]


def forecast(file: PicksFile, models: Sequence[str], scores: Scores) -> tuple[Forecast, ...]:
    """Predict every task of new models.

    A pick without a score is taken to be what the other picks say of it, with a warning and wider intervals. Other
    tasks with a score keep it. A model that is stronger than all that the matrix has seen, or unlike them, gets the
    wider intervals that held when the strongest models were left out.

    Args:
        file: the picks.
        models: names of the new ones.
        scores: (models, tasks) in [0, 1], NaN where there is none; at least one pick of each model has one.

    Raises:
        UsageError: a model has no score on any pick.
    """
    picks = list(file.predictor.picks)
    picked = scores[:, picks]
    silent = [model for model, own in zip(models, picked, strict=True) if np.isnan(own).all()]
    if silent:
        raise UsageError(
            f"no score on any of the picks for {named(silent)}", mend=f"The picks are {named(file.picks, len(picks))}."
        )
    measured = ~np.isnan(scores)
    predicted = np.where(measured, scores, file.predictor.predict(file.seen.filled(picked)))
    means = predicted.mean(axis=1)
    told = warnings(file.seen, picked, means)
    found = []
    for row, model in enumerate(models):
        lacking = [file.picks[at] for at in np.flatnonzero(np.isnan(picked[row]))]
        widths = file.beyond if told[row] or lacking else file.within
        if lacking:
            told[row].append(f"no score on {named(lacking)}: taken from the other picks, so intervals are wider")
        own, of_mean = _widths(file, widths, picked[row], measured[row])
        mean = float(means[row])
        found.append(
            Forecast(
                model,
                100 * mean,
                100 * max(0.0, mean - of_mean),
                100 * min(1.0, mean + of_mean),
                tuple(
                    _task(file, task, predicted[row, task], own[task], measured=bool(measured[row, task]))
                    for task in range(len(file.tasks))
                ),
                tuple(told[row]),
            )
        )
    return tuple(found)


def _widths(
    file: PicksFile, widths: Widths, picked: Scores, measured: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """Half widths for one model: of each task, none where it was measured, and of the mean.

    The mean is the surer the more of it was measured, as if errors of tasks had nothing in common; where they have, it
    is surer still. What a missing pick leaves open adds to all that is predicted from it.
    """
    usual = widths.tasks.copy()
    usual[list(file.predictor.picks)] = 0.0
    left = np.where(measured, 0.0, usual)
    whole = float((usual**2).sum())
    tasks, mean = left**2, widths.mean**2 * (float((left**2).sum()) / whole if whole > 0 else 0.0)
    if np.isnan(picked).any():
        filled = file.seen.filled(picked[None])
        moved = file.predictor.predict(filled + file.seen.open_directions(picked)) - file.predictor.predict(filled)
        moved = _DEVIATIONS * np.where(measured, 0.0, moved)
        tasks, mean = tasks + (moved**2).sum(axis=0), mean + float((moved.mean(axis=1) ** 2).sum())
    return np.sqrt(tasks), float(np.sqrt(mean))


def _task(file: PicksFile, task: int, score: float, width: float, *, measured: bool) -> TaskForecast:
    """In the task's own unit, where the lower end of the interval is the smaller number."""
    ends = np.clip(np.array([score, score - width, score + width]), 0.0, 1.0)
    own = file.scales[task].outward(ends)
    low, high = sorted((float(own[1]), float(own[2])))
    return TaskForecast(file.tasks[task], float(own[0]), low, high, measured)
