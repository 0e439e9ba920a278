"""The scores that score-based methods look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.filled import filled
from benchcore.methods.problem import Problem

Scores = NDArray[np.float64]


def source_scores(problem: Problem) -> Scores:
    """(n, models) scores of the source models, NaN where missing.

    Raises:
        ValueError: the problem has no score of a source model.
    """
    scores = np.asarray(problem.features.get("scores", np.zeros((problem.n, 0))), np.float64)
    if scores.ndim != 2 or not np.isfinite(scores).any():
        raise ValueError("this method needs scores of source models: the feature block 'scores' has none")
    return scores


def complete_scores(problem: Problem) -> Scores:
    """(n, models) the same with missing scores filled (see `estimation.filled`).

    Raises:
        ValueError: the problem has no score of a source model.
    """
    return filled(source_scores(problem))


def item_moments(problem: Problem) -> tuple[Scores, Scores]:
    """(n,) mean and (n,) variance of each item's scores over source models; NaN for an item without a score."""
    scores = source_scores(problem)
    seen = ~np.isnan(scores)
    count = np.where(seen.any(axis=1), seen.sum(axis=1), np.nan)
    mean = np.where(seen, scores, 0.0).sum(axis=1) / count
    variance = (np.where(seen, scores - mean[:, None], 0.0) ** 2).sum(axis=1) / count
    return mean, variance
