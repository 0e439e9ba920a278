"""Weighted means of scores some of which are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Estimator, Sample, Scores

Weights = NDArray[np.float64]


def weighted_mean(weights: Weights, scores: Scores) -> Scores:
    """Mean over the observed scores of each model, with the weights scaled to sum to 1 over them.

    Args:
        weights: (k,), not negative.
        scores: (k, models), NaN where missing.

    Returns:
        (models,); NaN for a model without a score on any pick that has a weight.
    """
    seen = ~np.isnan(scores)
    total = weights @ seen
    with np.errstate(invalid="ignore"):
        mean: Scores = np.where(total > 0, weights @ np.where(seen, scores, 0.0), np.nan) / total
    return mean


def weighted_mean_in_groups(weights: Weights, scores: Scores, groups: NDArray[np.int64]) -> Scores:
    """The same, but a missing score's weight stays in its group as long as that has another score.

    Args:
        weights: (k,), not negative.
        scores: (k, models), NaN where missing.
        groups: (k,) group numbers.

    Returns:
        (models,); NaN for a model without a score on any pick that has a weight.
    """
    seen = ~np.isnan(scores)
    if seen.all():
        return weighted_mean(weights, scores)
    members = groups[:, None] == np.unique(groups)
    kept = (members * weights[:, None]).T @ seen
    inside = (members * weights[:, None]).T @ np.where(seen, scores, 0.0)
    share = np.where(kept > 0, (weights @ members)[:, None], 0.0)
    with np.errstate(invalid="ignore"):
        means = np.where(kept > 0, inside / np.where(kept > 0, kept, 1.0), 0.0)
        estimate: Scores = (share * means).sum(axis=0) / share.sum(axis=0)
    return estimate


def whole(weights: Callable[[Sample], Weights]) -> Estimator:
    """The estimator with these weights; a missing score's weight goes to all others of its model."""

    def estimate(sample: Sample, scores: Scores) -> Scores:
        return weighted_mean(weights(sample), scores)

    return estimate


def in_groups(weights: Callable[[Sample], Weights]) -> Estimator:
    """The estimator with these weights; a missing score's weight goes to the rest of its group."""

    def estimate(sample: Sample, scores: Scores) -> Scores:
        return weighted_mean_in_groups(weights(sample), scores, sample.groups[sample.indices])

    return estimate


def by_missing(estimator: Estimator) -> Estimator:
    """The estimator applied to each set of models with the same scores missing, as if those picks were not there."""

    def estimate(sample: Sample, scores: Scores) -> Scores:
        seen = ~np.isnan(scores)
        if seen.size and seen.all():
            return estimator(sample, scores)
        estimates = np.full(scores.shape[1], np.nan)
        patterns, owner = np.unique(seen, axis=1, return_inverse=True)
        for number, rows in enumerate(patterns.T):
            models = owner.ravel() == number
            if rows.any():
                estimates[models] = estimator(_restricted(sample, rows), scores[rows][:, models])
        return estimates

    return estimate


def _restricted(sample: Sample, rows: NDArray[np.bool_]) -> Sample:
    if rows.all():
        return sample
    own = None if sample.own is None else sample.own[rows] / max(float(sample.own[rows].sum()), 1e-300)
    return replace(sample, indices=sample.indices[rows], own=own)
