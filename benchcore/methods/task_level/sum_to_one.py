"""Forward selection of tasks whose weighted mean, with weights that sum to one, is the mean of all."""

from __future__ import annotations

import numpy as np

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.task_level.fit import Fit, forward
from benchcore.methods.task_level.source import columns
from benchcore.methods.unvalued import unvalued

_HARD = 1e4  # penalty on the distance of the weights' sum from 1, in mean squares of a task
_JITTER = 1e-9


def sum_to_one(problem: Problem) -> Selection:
    """Pick greedily so that least squares without an intercept, its weights summing to 1, errs least. Nested.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = columns(problem)
    target = problem.mass @ rows
    inner = rows @ rows.T
    size = max(float(np.diag(inner).mean()), _JITTER)
    matrix = inner + _JITTER * size * np.eye(problem.n) + _HARD * size
    fit = Fit(matrix, rows @ target + _HARD * size, 0.0, float(target @ target) + _HARD * size)
    return unvalued(forward(fit, problem.k, problem.include, problem.available))
