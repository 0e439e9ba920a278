"""Estimates that lean on a panel: a few models whose scores are known on the whole pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample, Scores
from benchcore.estimation.filled import filled
from benchcore.estimation.group_weights import macro_weights

# Pseudo-picks that say the slope on the panel's mean score is zero: what shrinks it where picks are few.
SLOPE_PICKS = 10.0
PENALTIES = np.logspace(-1, 4, 11)


def panel_difference(sample: Sample, scores: Scores) -> Scores:
    """Macro mean of the picks, moved by how far the panel's mean on them is from its mean on the pool.

    The difference estimator of survey sampling: unbiased for a random draw, best where a model's score on an item
    rises one for one with the panel's mean.

    Args:
        sample: with a panel.
        scores: (k, models) without missing ones.
    """
    item = _item_means(sample)
    weights = macro_weights(sample)
    estimate: Scores = weights @ scores + (sample.mass @ item - weights @ item[sample.indices])
    return estimate


def panel_ridge(sample: Sample, scores: Scores) -> Scores:
    """Macro mean of the picks, moved along each model's own slope on the panel's mean score.

    The regression estimator (Cassel, Sarndal and Wretman 1976) with one slope inside all groups, shrunk toward zero
    as if SLOPE_PICKS more picks showed none.

    Args:
        sample: with a panel.
        scores: (k, models) without missing ones.
    """
    item = np.broadcast_to(_item_means(sample)[:, None], (len(sample.groups), scores.shape[1]))
    return along_slopes(sample, scores, item, SLOPE_PICKS, 0.0)


def aipw(sample: Sample, scores: Scores) -> Scores:
    """Mean prediction of every row, plus the mean residual on the picks.

    Augmented inverse propensity weighting as of 2506.07673: each model's item scores are regressed on the panel's
    (ridge, penalty by generalized cross-validation), and what the regression gets wrong on the picks is added back,
    so that it does no harm where it predicts badly.

    Args:
        sample: with a panel.
        scores: (k, models) without missing ones.
    """
    panel = complete_panel(sample)
    weights = macro_weights(sample)
    picked = panel[sample.indices]
    centre = weights @ picked
    moved = sample.mass @ panel - centre
    coefficients = ridge_slopes(picked - centre, scores - weights @ scores, weights)
    estimate: Scores = weights @ scores + moved @ coefficients
    return estimate


def _item_means(sample: Sample) -> NDArray[np.float64]:
    means: NDArray[np.float64] = complete_panel(sample).mean(axis=1)
    return means


def complete_panel(sample: Sample) -> NDArray[np.float64]:
    """(n, p) the panel without gaps.

    Raises:
        ValueError: the sample has no panel, or one without a score.
    """
    if sample.panel is None:
        raise ValueError("this estimator needs a panel: models scored on the whole pool")
    return filled(sample.panel)


def along_slopes(sample: Sample, scores: Scores, expected: Scores, pseudo: float, slope: float) -> Scores:
    """Macro mean of the picks, moved along each model's slope on expected scores.

    The slope is that of least squares inside all groups, drawn to `slope` by pseudo-picks that are as far apart as the
    pool, so that picks which are all alike cannot make it wild.

    Args:
        sample: the picks.
        scores: (k, models) without missing ones.
        expected: (n, models) of every row.
        pseudo: how many pseudo-picks there are.
        slope: that they have.
    """
    weights, groups, picked = macro_weights(sample), sample.groups[sample.indices], expected[sample.indices]
    inside = centred_in_groups(picked, weights, groups)
    spread = sample.mass @ centred_in_groups(expected, sample.mass, sample.groups) ** 2
    count = len(scores)
    together = count * (weights @ (inside * centred_in_groups(scores, weights, groups))) + pseudo * slope * spread
    alone = count * (weights @ inside**2) + pseudo * spread
    slopes = np.where(alone > 1e-12, together / np.maximum(alone, 1e-12), 0.0)
    estimate: Scores = weights @ scores + slopes * (sample.mass @ expected - weights @ picked)
    return estimate


def centred_in_groups(columns: NDArray[np.float64], weights: NDArray[np.float64], groups: NDArray[np.int64]) -> Scores:
    """Columns less their weighted means inside each group."""
    numbers = np.unique(groups, return_inverse=True)[1]
    members = (numbers[:, None] == np.arange(numbers.max() + 1)) * weights[:, None]
    means = (members.T @ columns) / np.maximum(members.sum(axis=0), 1e-300)[:, None]
    centred: Scores = columns - means[numbers]
    return centred


def ridge_slopes(
    columns: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(p, models) ridge coefficients of centred columns, each model's penalty by generalized cross-validation."""
    root = np.sqrt(weights * len(weights))[:, None]
    left, singular, right = np.linalg.svd(columns * root, full_matrices=False)
    inside = left.T @ (targets * root)
    total = ((targets * root) ** 2).sum(axis=0)
    if not singular.any():
        return np.zeros((columns.shape[1], targets.shape[1]))
    shrink = singular**2 / (singular**2 + PENALTIES[:, None])
    fitted = (2 * shrink - shrink**2) @ inside**2
    freedom = np.maximum(len(weights) - 1 - shrink.sum(axis=1), 1e-3)
    best = np.argmin((total - fitted) / (freedom**2)[:, None], axis=0)
    inverse = singular / (singular**2 + PENALTIES[:, None])
    coefficients: NDArray[np.float64] = right.T @ (inverse[best].T * inside)
    return coefficients
