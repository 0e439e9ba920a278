"""Greedy picks under a Gaussian: what is left of tasks' covariance given the picks so far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection

Floats = NDArray[np.float64]

_LEAST = 1e-12

Gain = Callable[[Floats, NDArray[np.bool_]], Floats]


def greedily(problem: Problem, covariance: Floats, gain: Gain) -> Selection:
    """Pick the available task of the largest gain, again and again, conditioning the covariance on each.

    Nested. Gains are as `gain` gives them, and not below zero.

    Args:
        problem: says what is included and available.
        covariance: (tasks, tasks).
        gain: from the covariance given the picks and (tasks,) whether each is picked to (tasks,) gains.
    """
    left, free = covariance.copy(), problem.available
    picked = np.zeros(problem.n, bool)
    indices, gains = np.zeros(problem.k, np.int64), np.zeros(problem.k)
    floor = _LEAST * max(float(np.diag(covariance).max()), _LEAST)
    for step in range(problem.k):
        worth = gain(left, picked)
        if step < len(problem.include):
            pick = int(problem.include[step])
        else:
            pick = int(np.argmax(np.where(free, worth, -np.inf)))
        indices[step], gains[step] = pick, max(0.0, float(worth[pick]))
        free[pick], picked[pick] = False, True
        if left[pick, pick] > floor:
            left = left - np.outer(left[pick], left[pick] / left[pick, pick])
        left[pick], left[:, pick] = 0.0, 0.0
    return Selection(
        indices=indices,
        gains=gains,
        value=float(gains.sum()),
        certificate=None,
        roles=np.full(problem.k, "core"),
    )


def variance(left: Floats) -> Floats:
    """(tasks,) what is left of each task's variance, above zero."""
    return np.asarray(np.maximum(np.diag(left), _LEAST), np.float64)
