"""Regressions from picked tasks to every task that shrink towards the plain mean of the picks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_source import Gram

Scores = NDArray[np.float64]
Indices = NDArray[np.int64]

# Variances of what neither level says that the penalties are worth: of one weight's distance from 1/k, of the weights'
# sum from 1, and of the shift from 0.
WEIGHT, TOTAL, SHIFT = 4.0, 4.0, 16.0


def toward_mean(gram: Gram, picks: Indices) -> Scores:
    """Coefficients of every task on the picks and a constant.

    A task's score is the plain mean of the picks, plus a shift, plus deviations of the weights from 1/k; ridge
    penalties on the deviations, on their sum and on the shift keep a regression learnt on weak models from going astray
    on stronger ones, and on few models from overfitting. The mean over tasks is predicted by the coefficients' mean.

    Args:
        gram: inner products over source models.
        picks: (k,) positions of the picked tasks.

    Returns:
        (k + 1, tasks) coefficients, the constant's last.
    """
    k, tasks = len(picks), gram.tasks
    products = gram.rows(np.append(picks, tasks))
    normal = products[:, np.append(picks, tasks)] + penalties(k, gram.spread)
    open_part = products[:, :tasks] - products[:, picks].mean(axis=1, keepdims=True)
    found: Scores = np.linalg.solve(normal, open_part)
    found[:k] += 1 / k
    return found


def penalties(k: int, spread: float) -> Scores:
    """(k + 1, k + 1) the quadratic form of the penalties on deviations and shift."""
    matrix = np.full((k + 1, k + 1), TOTAL)
    matrix[:k, :k] += WEIGHT * np.eye(k)
    matrix[k], matrix[:, k] = 0.0, 0.0
    matrix[k, k] = SHIFT
    scaled: Scores = spread * matrix
    return scaled
