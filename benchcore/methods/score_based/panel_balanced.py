"""A balanced draw, moved by swaps until a panel of models scores on the picks what it scores on the pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.mean_swaps import swap_to_mean
from benchcore.methods.score_based.source_scores import complete_scores
from benchcore.methods.stratified_random import stratified_random
from benchcore.methods.unvalued import unvalued


def panel_balanced(problem: Problem) -> Selection:
    """Draw in balance, then swap items inside groups as long as that brings the picks' panel scores to the group's.

    What is matched in each group are the mean of every panel model's scores, and the mean and the spread of the items'
    panel means. The spread is the guard for skewed scores: matching means alone, swaps fill up with extreme items.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    features = balanced_features(complete_scores(problem))
    return unvalued(swap_to_mean(problem, features, stratified_random(problem).indices))


def balanced_features(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, models + 2) what is to be matched, each column on a scale of its own."""
    item = scores.mean(axis=1)
    mean = (item - item.mean())[:, None]
    columns = np.column_stack([mean, mean**2, scores - scores.mean(axis=0)])
    spread = columns.std(axis=0)
    scaled = columns / np.where(spread > 1e-12, spread, np.inf)
    scaled[:, 2:] /= np.sqrt(scores.shape[1])
    standard: NDArray[np.float64] = scaled
    return standard
