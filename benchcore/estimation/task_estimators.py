"""From scores on picked tasks to scores on every task: estimators, each learnt on source models alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_regressions import toward_mean
from benchcore.estimation.task_source import TaskSource, logits

Scores = NDArray[np.float64]
Indices = NDArray[np.int64]

_PENALTY = 1.0  # of a ridge on standardized picks


class TaskEstimator(Protocol):
    """A function from scores on picked tasks to scores on every task."""

    def __call__(self, source: TaskSource, picks: Indices, scores: Scores) -> Scores:
        """Predict each model's scores.

        Args:
            source: other models.
            picks: (k,) positions of the picked tasks.
            scores: (models, k) on the picks, NaN where missing.

        Returns:
            (models, tasks); their mean is the predicted mean. NaN for a model without a score on any pick.
        """
        ...


@dataclass(frozen=True)
class TaskEstimatorEntry:
    """A named task estimator; it can be called like the estimator itself.

    Attributes:
        estimator: for models with scores on all picks.
    """

    estimator: TaskEstimator

    def __call__(self, source: TaskSource, picks: Indices, scores: Scores) -> Scores:
        """Predict from the picks that each model has."""
        return by_missing(self.estimator, source, picks, scores)


def by_missing(
    estimator: Callable[[TaskSource, Indices, Scores], Scores], source: TaskSource, picks: Indices, scores: Scores
) -> Scores:
    """Predict models with the same scores missing together, as if those picks were not there."""
    seen = ~np.isnan(scores)
    if seen.all():
        return estimator(source, picks, scores)
    predicted = np.full((len(scores), source.scores.shape[1]), np.nan)
    patterns, owner = np.unique(seen, axis=0, return_inverse=True)
    for number, there in enumerate(patterns):
        rows = np.flatnonzero(owner.ravel() == number)
        if there.any():
            predicted[rows] = estimator(source, picks[there], scores[np.ix_(rows, there)])
    return predicted


def plain_mean(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """Every task is taken to be the mean of the picks."""
    return np.repeat(scores.mean(axis=1, keepdims=True), source.scores.shape[1], axis=1)


def cluster_weights(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """Every task is taken to score as the pick whose column is nearest to its own (squared distance)."""
    columns = source.complete
    inner = columns.T @ columns[:, picks]
    distance = np.diag(inner[picks]) - 2 * inner
    owner = np.argmin(distance, axis=1)
    owner[picks] = np.arange(len(picks))
    return np.asarray(scores[:, owner], np.float64)


def ridge(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """Ridge regression with an intercept on standardized picks (Hoerl and Kennard 1970), penalty 1."""
    columns = source.complete
    mean, deviation = columns[:, picks].mean(axis=0), columns[:, picks].std(axis=0) + 1e-9
    standard = (columns[:, picks] - mean) / deviation
    level = columns.mean(axis=0)
    normal = standard.T @ standard + _PENALTY * np.eye(len(picks))
    slopes = np.linalg.solve(normal, standard.T @ (columns - level))
    return np.asarray(level + (scores - mean) / deviation @ slopes, np.float64)


def gaussian(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """Conditional expectation of a Gaussian with Ledoit-Wolf shrinkage, fitted by EM where cells are missing."""
    mean, covariance = source.moments.mean, source.moments.covariance
    slopes = np.linalg.solve(covariance[np.ix_(picks, picks)], covariance[picks])
    return np.asarray(mean + (scores - mean[picks]) @ slopes, np.float64)


def sum_to_one(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """Least squares with weights that sum to 1 and no intercept."""
    columns = source.complete
    first, others = columns[:, picks[:1]], columns[:, picks[1:]]
    apart = others - first
    normal = apart.T @ apart + 1e-9 * len(columns) * np.eye(len(picks) - 1)
    weights = np.linalg.solve(normal, apart.T @ (columns - first))
    return np.asarray(scores[:, :1] + (scores[:, 1:] - scores[:, :1]) @ weights, np.float64)


def shrunk_linear(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """Regression that shrinks towards the plain mean of the picks (see `task_regressions`); picks are as they are.

    Like the two that follow it keeps to [0, 1], as the file of picks predicts.
    """
    return np.clip(_linear(source, picks, scores), 0.0, 1.0)


def _linear(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    found = toward_mean(source.gram, picks)
    predicted = scores @ found[:-1] + found[-1]
    predicted[:, picks] = scores
    return np.asarray(predicted, np.float64)


def shrunk_logit(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """The same on log odds: scores that near a ceiling or a floor do so on all tasks together."""
    found = toward_mean(source.logit_gram, picks)
    predicted = 1 / (1 + np.exp(-(logits(scores) @ found[:-1] + found[-1])))
    predicted[:, picks] = scores
    return np.asarray(predicted, np.float64)


def shrunk_blend(source: TaskSource, picks: Indices, scores: Scores) -> Scores:
    """The mean of `shrunk_linear`, before it is drawn into [0, 1], and `shrunk_logit`; then the same is done."""
    return np.clip((_linear(source, picks, scores) + shrunk_logit(source, picks, scores)) / 2, 0.0, 1.0)


TASK_ESTIMATORS: dict[str, TaskEstimatorEntry] = {
    "plain": TaskEstimatorEntry(plain_mean),
    "cluster_weights": TaskEstimatorEntry(cluster_weights),
    "ridge": TaskEstimatorEntry(ridge),
    "gaussian": TaskEstimatorEntry(gaussian),
    "sum_to_one": TaskEstimatorEntry(sum_to_one),
    "shrunk_linear": TaskEstimatorEntry(shrunk_linear),
    "shrunk_logit": TaskEstimatorEntry(shrunk_logit),
    "shrunk_blend": TaskEstimatorEntry(shrunk_blend),
}
