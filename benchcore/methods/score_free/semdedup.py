"""Near-duplicates removed, then a balanced random draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.geometry.directions import Directions, directions
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued

THRESHOLD = 0.9
_BLOCK = 1024


def semdedup(problem: Problem) -> Selection:
    """Draw at random from what is left without semantic duplicates (SemDeDup: Abbas et al. 2023, arXiv 2303.09540).

    An item is a duplicate where the cosine to an earlier one of its group is above 0.9. The paper looks inside clusters
    of k-means, which saves time that is not short here. Duplicates are drawn only where there is nothing else. The
    first j picks are those of a problem with k = j.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors, turns = directions(problem), problem.turns
    duplicate = np.zeros(problem.n, bool)
    for turn in np.unique(turns):
        members = np.flatnonzero(problem.available & (turns == turn))
        duplicate[members] = has_earlier_twin(vectors[members])
    order = np.random.default_rng(problem.seed).permutation(np.flatnonzero(problem.available))
    return unvalued(in_rounds(problem, order[np.argsort(duplicate[order], kind="stable")]))


def has_earlier_twin(vectors: Directions) -> NDArray[np.bool_]:
    """(m,) whether an earlier row's cosine is above the threshold."""
    twin = np.zeros(len(vectors), bool)
    for start in range(0, len(vectors), _BLOCK):
        rows = vectors[start : start + _BLOCK]
        cosine = rows @ vectors[: start + len(rows)].T
        earlier = np.arange(start + len(rows)) < np.arange(start, start + len(rows))[:, None]
        twin[start : start + len(rows)] = ((cosine > THRESHOLD) & earlier).any(axis=1)
    return twin
