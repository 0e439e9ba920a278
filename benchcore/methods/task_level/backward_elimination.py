"""Backward elimination by predictability: the task that the others predict best goes, until k are left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.task_level.source import columns
from benchcore.methods.unvalued import unvalued

Floats = NDArray[np.float64]

_PENALTY = 1e-4  # of a ridge, in variances of a task times models: more tasks than models can be regressed on, too
_DIGITS = 12  # of a score: those after it are rounding


def backward_elimination(problem: Problem) -> Selection:
    """Remove the task whose scores a regression on those left predicts best, again and again (MTEB, 2502.13595).

    As there, predictions are for models left out one at a time and are judged by Spearman's correlation; one regression
    for each task gives them all by its hat matrix, where the original refits for every model. Models with the same
    scores, as a bootstrap sample has them, are left out together: they would tell each other's. What is removed last
    comes first, so that a smaller k gives a prefix; the few last are removed by their order.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    scores = columns(problem).T
    copies = copies_of(scores)
    left, removed = list(range(problem.n)), []
    free = problem.available
    while any(free[task] for task in left):
        removable = [task for task in left if free[task]]
        worst = max(removable, key=lambda task: (predictability(scores, task, left, copies), -task))
        left.remove(worst)
        removed.append(worst)
    excluded = set(problem.exclude.tolist())
    kept = [task for task in removed[::-1] if task not in excluded]
    return unvalued(np.array([*problem.include.tolist(), *kept][: problem.k], np.int64))


def copies_of(scores: Floats) -> Floats:
    """(models,) how many have the scores that a model has, itself among them."""
    _, owner, counts = np.unique(np.round(scores, _DIGITS), axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[owner.ravel()], np.float64)


def predictability(scores: Floats, task: int, left: list[int], copies: Floats) -> float:
    """Spearman's correlation of a task's scores with what the other tasks that are left predict for unseen models.

    Args:
        scores: (models, tasks).
        task: position of the task.
        left: positions of the tasks that are left, this one among them.
        copies: (models,) how many have the scores that a model has: a fold is all of these, with one hat entry h, so
            that what is left over when they are left out is r / (1 - copies h).
    """
    others = [other for other in left if other != task]
    target = scores[:, task] - scores[:, task].mean()
    if not others or len(target) < 3:
        return -1.0
    rows = scores[:, others] - scores[:, others].mean(axis=0)
    penalty = _PENALTY * max(float((rows**2).mean()), 1e-12) * len(rows)
    normal = rows.T @ rows + penalty * np.eye(len(others))
    hat = rows @ np.linalg.solve(normal, rows.T)
    open_share = np.maximum(1 - copies * (np.diag(hat) + 1 / len(target)), 1e-9)
    predicted = target - (target - hat @ target) / open_share
    return _rank_correlation(predicted, target)


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Pearson's correlation of average ranks; -1 where either is constant, of which nothing can be told."""
    first, second = (_ranks(values) - (len(one) - 1) / 2 for values in (one, other))
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale > 0 else -1.0


def _ranks(values: Floats) -> Floats:
    """From 0 on; equal values, but for rounding, share the mean of theirs."""
    _, owner, counts = np.unique(np.round(values, _DIGITS), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts + 1) / 2)[owner], np.float64)
