"""Estimates from item response theory: what a model of this ability would score on the rows that were not picked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample, Scores
from benchcore.estimation.group_weights import macro_weights
from benchcore.estimation.item_response import estimate_abilities, fit_item_response, probabilities
from benchcore.estimation.panel import along_slopes
from benchcore.estimation.weighted import by_missing, weighted_mean_in_groups

Parameters = NDArray[np.float64]
# Pseudo-picks that say the slope on expected scores is one.
ONE_PICKS = 30.0


def p_irt(sample: Sample, scores: Scores) -> Scores:
    """Observed scores on the picks, expected ones on the rest (p-IRT, tinyBenchmarks, 2402.14992, eq. 4).

    Args:
        sample: with a panel, scores in [0, 1]; or with the block `item_response`.
        scores: (k, models) in [0, 1], NaN where missing.

    Returns:
        (models,); NaN for a model without a score.
    """
    return _p_irt(sample, _parameters(sample), scores)


def gp_irt(sample: Sample, scores: Scores) -> Scores:
    """A blend of p-IRT and the macro mean of the picks, by how far off either must be expected (gp-IRT, ibid.).

    The share of the mean is b^2 / (b^2 + v): b^2 is the mean squared error of p-IRT on the panel's models from the
    same picks, v the variance of the mean. The items were fitted on those models, so b is too small for few models.

    Args:
        sample: with a panel, scores in [0, 1].
        scores: (k, models) in [0, 1], NaN where missing.
    """
    parameters = _parameters(sample)
    panel = _panel(sample)
    seen = ~np.isnan(panel)
    truth = sample.mass @ np.where(seen, panel, 0.0) / np.maximum(sample.mass @ seen, 1e-300)
    missed = (_p_irt(sample, parameters, panel[sample.indices]) - truth)[(sample.mass @ seen) > 0]
    bias = float(np.nanmean(missed**2)) if np.isfinite(missed).any() else 0.0
    weights, groups = macro_weights(sample), sample.groups[sample.indices]
    mean = weighted_mean_in_groups(weights, scores, groups)
    squares = weighted_mean_in_groups(weights, (scores - mean) ** 2, groups)
    variance = float(weights @ weights) * squares
    share = bias / np.maximum(bias + variance, 1e-300)
    blend: Scores = share * mean + (1 - share) * _p_irt(sample, parameters, scores)
    return blend


def irt_difference(sample: Sample, scores: Scores) -> Scores:
    """Macro mean of the picks, moved along the slope on what item response theory expects of the model.

    The regression estimator of `panel_ridge` with the expected score of each item for a model of this ability in place
    of the panel's mean, and its slope drawn to one. Right on average for a random draw however wrong the theory is.

    Args:
        sample: with a panel, scores in [0, 1].
        scores: (k, models) in [0, 1] without missing ones.
    """
    parameters = _parameters(sample)
    abilities = estimate_abilities(parameters[sample.indices], scores)
    return along_slopes(sample, scores, probabilities(parameters, abilities), ONE_PICKS, 1.0)


def irt_blend(sample: Sample, scores: Scores) -> Scores:
    """Half p-IRT, which varies little, and half the difference estimator, which is hardly biased.

    On MMLU-Pro, ZeroEval and IFEval (100 picks, panels of 3 and 10 models) that was better than both in most cases and
    never far from the better, for scored models like the panel's and for stronger ones.

    Args:
        sample: with a panel, scores in [0, 1].
        scores: (k, models) in [0, 1], NaN where missing.
    """
    sample = replace(sample, features={"item_response": _parameters(sample)})
    blend: Scores = 0.5 * p_irt(sample, scores) + 0.5 * by_missing(irt_difference)(sample, scores)
    return blend


def _p_irt(sample: Sample, parameters: Parameters, scores: Scores) -> Scores:
    picked = parameters[sample.indices]
    abilities = estimate_abilities(picked, scores)
    seen = ~np.isnan(scores)
    expected = sample.mass @ probabilities(parameters, abilities)
    surprise = np.where(seen, scores - probabilities(picked, abilities), 0.0)
    estimate: Scores = np.where(seen.any(axis=0), expected + sample.mass[sample.indices] @ surprise, np.nan)
    return estimate


def _parameters(sample: Sample) -> Parameters:
    if "item_response" in sample.features:
        return np.asarray(sample.features["item_response"], np.float64)
    return fit_item_response(_panel(sample)).parameters


def _panel(sample: Sample) -> Scores:
    """The panel.

    Raises:
        ValueError: there is none, or its scores are outside [0, 1].
    """
    if sample.panel is None or not np.isfinite(sample.panel).any():
        raise ValueError("this estimator needs a panel: models scored on the whole pool")
    if np.nanmin(sample.panel) < 0 or np.nanmax(sample.panel) > 1:
        raise ValueError("item response theory needs a panel's scores in [0, 1]")
    return sample.panel
