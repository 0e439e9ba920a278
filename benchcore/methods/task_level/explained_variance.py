"""Tasks that explain the most variance: of the mean over tasks, or of every task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.task_level.conditioning import greedily, variance
from benchcore.methods.task_level.source import columns, task_source

Floats = NDArray[np.float64]

_JITTER = 1e-9


def mean_explained(problem: Problem) -> Selection:
    """Pick greedily by the share of the mean's variance that the picks explain: R2 of Das and Kempe (1102.3975).

    The covariance is shrunk (Ledoit and Wolf 2004), so that this is Gaussian quadrature of the mean. Nested.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    return _of_mean(problem, task_source(problem).moments.covariance)


def forward_ols(problem: Problem) -> Selection:
    """The same with the sample covariance: forward selection by ordinary least squares. Nested.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = columns(problem)
    centred = rows - rows.mean(axis=1, keepdims=True)
    sample = centred @ centred.T / rows.shape[1]
    return _of_mean(problem, sample + _JITTER * np.eye(problem.n))


def total_explained(problem: Problem) -> Selection:
    """Pick greedily by the variance of all tasks together that the picks explain (column subset selection). Nested.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    covariance = task_source(problem).moments.covariance
    total = max(float(problem.mass @ np.diag(covariance)), _JITTER)

    def gain(left: Floats, _: NDArray[np.bool_]) -> Floats:
        return np.asarray(problem.mass @ left**2 / variance(left) / total, np.float64)

    return greedily(problem, covariance, gain)


def _of_mean(problem: Problem, covariance: Floats) -> Selection:
    total = max(float(problem.mass @ covariance @ problem.mass), _JITTER)

    def gain(left: Floats, _: NDArray[np.bool_]) -> Floats:
        return np.asarray((left @ problem.mass) ** 2 / variance(left) / total, np.float64)

    return greedily(problem, covariance, gain)
