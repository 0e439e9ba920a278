"""Tasks that carry the most information under a Gaussian: their entropy, or what they tell of the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.task_level.conditioning import greedily, variance
from benchcore.methods.task_level.source import task_source

Floats = NDArray[np.float64]


def entropy(problem: Problem) -> Selection:
    """Pick greedily so that the Gaussian entropy of the picks is largest (Krause et al. 2008; 2605.02209). Nested.

    A pick's gain is half the log of its variance given the picks before, over the mean variance of a task; the order is
    that of the variance, and gains below zero are told as zero.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    covariance = task_source(problem).moments.covariance
    level = float(np.diag(covariance).mean())

    def gain(left: Floats, _: NDArray[np.bool_]) -> Floats:
        return np.asarray(0.5 * np.log(variance(left) / level), np.float64)

    return greedily(problem, covariance, gain)


def mutual_information(problem: Problem) -> Selection:
    """Pick greedily by the information that the picks share with all other tasks (Krause et al. 2008, alg. 1). Nested.

    A task's gain is half the log of its variance given the picks over its variance given all tasks that are not picked.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    covariance = task_source(problem).moments.covariance

    def gain(left: Floats, picked: NDArray[np.bool_]) -> Floats:
        rest = np.flatnonzero(~picked)
        given_rest = np.ones(len(left))
        given_rest[rest] = 1 / np.diag(np.linalg.inv(covariance[np.ix_(rest, rest)]))
        return np.asarray(0.5 * np.log(variance(left) / np.maximum(given_rest, 1e-12)), np.float64)

    return greedily(problem, covariance, gain)
