"""A balanced draw, moved by swaps until it is like the pool in what a panel of models scores and in its texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.mean_kernel import text_blocks
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.mean_swaps import swap_to_mean
from benchcore.methods.score_based.panel_balanced import balanced_features
from benchcore.methods.score_based.source_scores import complete_scores
from benchcore.methods.stratified_random import stratified_random
from benchcore.methods.unvalued import unvalued

# Variance of all text features together, where the panel's add up to 3: texts explain about a fifth of what a panel
# does (`lab.explained`). From 0.3 to 3 the errors are the same within noise.
_TEXT = 0.6


def panel_swaps(problem: Problem) -> Selection:
    """Draw in balance, then swap items inside groups as long as that brings the mean of their features to the group's.

    The features are those of `panel_balanced` and, at a fifth of their weight, the blocks of the text: a panel of a few
    models says most of what is known of an item's difficulty, its text a little more.

    Args:
        problem: with the blocks `scores` and `embedding`; `surface` and `ngrams` where it has them.

    Raises:
        ValueError: there is no score, or a vector is all zeros or not finite; names the ids.
    """
    features = [balanced_features(complete_scores(problem))]
    blocks = text_blocks(problem)
    features += [np.sqrt(_TEXT / len(blocks)) * _of_variance_one(block) for block in blocks]
    return unvalued(swap_to_mean(problem, np.hstack(features), stratified_random(problem).indices))


def _of_variance_one(block: NDArray[np.floating]) -> NDArray[np.float64]:
    """Columns around their means, on a common scale on which their variances add up to 1."""
    centred = block.astype(np.float64) - block.mean(axis=0, dtype=np.float64)
    spread = float(np.sqrt((centred**2).sum(axis=1).mean()))
    scaled: NDArray[np.float64] = centred / (spread if spread > 1e-12 * (1 + float(np.abs(block).max())) else np.inf)
    return scaled
