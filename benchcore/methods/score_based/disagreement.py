"""The items on which source models disagree most."""

from __future__ import annotations

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.most_wanted import most_wanted
from benchcore.methods.score_based.source_scores import item_moments


def disagreement(problem: Problem) -> Selection:
    """Pick the items with the largest variance of scores between source models (DISCO, 2510.07959).

    DISCO ranks by the diversity of the models' predictive distributions; with one score an item that is its variance.
    The first j picks are those of a problem with k = j. Their unweighted mean is no estimate of the pool's: it needs
    a panel estimator.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    return most_wanted(problem, item_moments(problem)[1])
