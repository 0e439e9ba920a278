"""The source models of a problem whose items are whole tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_source import TaskSource
from benchcore.methods.problem import Problem
from benchcore.methods.score_based.source_scores import source_scores


def task_source(problem: Problem) -> TaskSource:
    """Source models as task estimators see them: one row a model.

    Raises:
        ValueError: the problem has no score of a source model.
    """
    return TaskSource(np.ascontiguousarray(source_scores(problem).T))


def columns(problem: Problem) -> NDArray[np.float64]:
    """(tasks, models) scores without gaps.

    Raises:
        ValueError: the problem has no score of a source model.
    """
    return np.ascontiguousarray(task_source(problem).complete.T)
