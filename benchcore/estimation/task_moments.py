"""Mean and covariance of tasks over models: Ledoit-Wolf shrinkage, and EM where cells are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_completion import Completed

Scores = NDArray[np.float64]

_STEPS = 12
_LARGEST = 10**8  # models x tasks^2 of an EM step: beyond it the low-rank model's completion is what there is
_LEAST = 1e-10


@dataclass(frozen=True, eq=False)
class Moments:
    """Of the scores of one model.

    Attributes:
        mean: (tasks,).
        covariance: (tasks, tasks), positive definite.
    """

    mean: Scores
    covariance: Scores


def moments_of(scores: Scores, completed: Completed) -> Moments:
    """Moments with the covariance shrunk to a multiple of the identity (Ledoit and Wolf 2004).

    Where cells are missing, by EM for a Gaussian (Little and Rubin 2002, section 11.2) that starts at the low-rank
    completion; large matrices stay with that, and with its noise on the diagonal.

    Args:
        scores: (models, tasks), NaN where missing.
        completed: the same without gaps.
    """
    mean = completed.scores.mean(axis=0)
    open_variance = np.diag(completed.missing.mean(axis=0) * completed.noise)
    found = Moments(mean, shrunk_covariance(completed.scores) + open_variance)
    if not completed.missing.any() or scores.shape[0] * scores.shape[1] ** 2 > _LARGEST:
        return found
    for _ in range(_STEPS):
        found = _step(scores, completed.missing, found)
    return found


def shrunk_covariance(scores: Scores) -> Scores:
    """(tasks, tasks) covariance shrunk to a multiple of the identity, by the amount of Ledoit and Wolf (2004)."""
    models, tasks = scores.shape
    centred = scores - scores.mean(axis=0)
    sample = centred.T @ centred / models
    level = float(np.trace(sample)) / tasks
    apart = float(((sample - level * np.eye(tasks)) ** 2).sum())
    squares = centred**2
    wobble = float((squares.T @ squares / models - sample**2).sum()) / models
    share = min(1.0, max(0.0, wobble) / apart) if apart > 0 else 1.0
    shrunk: Scores = (1 - share) * sample + (share * level + _LEAST) * np.eye(tasks)
    return shrunk


def _step(scores: Scores, missing: NDArray[np.bool_], now: Moments) -> Moments:
    """Expected scores and their open covariance given what is seen, then moments of these."""
    filled = np.where(missing, now.mean, scores)
    left = np.zeros_like(now.covariance)
    patterns, owner = np.unique(missing, axis=0, return_inverse=True)
    for number, gaps in enumerate(patterns):
        if not gaps.any():
            continue
        rows, seen = np.flatnonzero(owner.ravel() == number), ~gaps
        across = now.covariance[np.ix_(seen, gaps)]
        slopes = np.linalg.solve(now.covariance[np.ix_(seen, seen)], across) if seen.any() else across
        filled[np.ix_(rows, gaps)] = now.mean[gaps] + (scores[np.ix_(rows, seen)] - now.mean[seen]) @ slopes
        left[np.ix_(gaps, gaps)] += len(rows) * (now.covariance[np.ix_(gaps, gaps)] - across.T @ slopes)
    return Moments(filled.mean(axis=0), shrunk_covariance(filled) + left / len(scores))
