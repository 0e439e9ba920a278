"""The items that source models get right about half of the time."""

from __future__ import annotations

import numpy as np

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.most_wanted import most_wanted
from benchcore.methods.score_based.source_scores import item_moments


def mid_difficulty(problem: Problem) -> Selection:
    """Pick the items whose mean score over source models is nearest to one half (2603.23749).

    The first j picks are those of a problem with k = j. Made to tell models apart, not to estimate their scores: the
    picks' plain mean is drawn toward one half.

    Args:
        problem: with the block `scores`, in [0, 1].

    Raises:
        ValueError: there is no score.
    """
    return most_wanted(problem, -np.abs(item_moments(problem)[0] - 0.5))
