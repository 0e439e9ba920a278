"""Intervals for estimates that lean on a panel: from what the panel does not predict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample, Scores
from benchcore.estimation.group_weights import macro_weights
from benchcore.estimation.intervals import Intervals, stratified_moments, wilson
from benchcore.estimation.panel import aipw, complete_panel, ridge_slopes

_FOLDS = 5
# So many degrees of freedom say that the panel predicts nothing: a few picks may all happen to be predicted well.
_DOUBT = 2.0


def aipw_intervals(sample: Sample, scores: Scores, *, level: float = 0.95) -> Intervals:
    """Intervals of AIPW estimates from simple random draws inside groups.

    The estimate is the mean prediction plus the mean residual of the picks, so its variance is the stratified one of
    residuals (Sarndal, Swensson and Wretman 1992, 6.6). The residuals are those of regressions that were fitted without
    the pick (five folds), since those of the fit itself are too small where picks are few; and two degrees of freedom
    more have the variance of the scores themselves. Ends as those of `stratified_intervals`.

    Args:
        sample: with a panel.
        scores: (k, models) in [0, 1], without missing ones.
        level: how often intervals are to hold the true score.
    """
    groups, count = sample.groups[sample.indices], len(scores)
    weights = macro_weights(sample)
    sizes = np.bincount(sample.groups).astype(np.float64)
    shares = np.bincount(groups, weights, len(sizes)).astype(np.float64)
    residuals = stratified_moments(unfitted_residuals(sample, scores, weights), groups, sizes, shares)
    plain = stratified_moments(scores, groups, sizes, shares)
    freedom = residuals.freedom
    variance = (freedom * residuals.variance + _DOUBT * plain.variance) / (freedom + _DOUBT)
    estimate = np.clip(aipw(sample, scores), 0.0, 1.0)
    # At 0 and 1 a variance in proportion to x (1 - x) has no meaning: as far inside as half a pick.
    inside = np.clip(estimate, 0.5 / (count + 1), 1 - 0.5 / (count + 1))
    relative = np.where(plain.known, variance / (inside * (1 - inside)), plain.alike)
    return wilson(estimate, relative, freedom, level)


def unfitted_residuals(sample: Sample, scores: Scores, weights: NDArray[np.float64]) -> Scores:
    """(k, models) what regressions on the panel get wrong on picks that they were not fitted on.

    Folds take turns inside groups, so that each group is in as many as it can be.

    Args:
        sample: with a panel.
        scores: (k, models) without missing ones.
        weights: (k,) of the picks.
    """
    groups, picked = sample.groups[sample.indices], complete_panel(sample)[sample.indices]
    fold = np.empty(len(scores), np.int64)
    fold[np.argsort(groups, kind="stable")] = np.arange(len(scores)) % min(_FOLDS, len(scores))
    residuals = scores - weights @ scores
    if len(scores) < 2:
        return residuals
    for number in range(int(fold.max()) + 1):
        out = fold == number
        rest = weights[~out] / weights[~out].sum()
        centre = rest @ picked[~out]
        slopes = ridge_slopes(picked[~out] - centre, scores[~out] - rest @ scores[~out], rest)
        residuals[out] -= (picked[out] - weights @ picked) @ slopes
    return residuals
