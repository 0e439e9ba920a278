"""Picks in the order of one number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def most_wanted(problem: Problem, worth: NDArray[np.float64]) -> Selection:
    """The available items of largest worth, in balanced rounds; ties go to the smallest id, NaN comes last.

    Args:
        problem: its rows in order of id.
        worth: (n,).
    """
    available = np.flatnonzero(problem.available)
    order = np.argsort(-np.nan_to_num(worth[available], nan=-np.inf), kind="stable")
    return unvalued(in_rounds(problem, available[order]))
