"""Voronoi weights: each pick stands for the mass of the items that are nearest to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem

_BLOCK = 4096


def voronoi_weights(problem: Problem, vectors: NDArray[np.float32], picks: NDArray[np.int64]) -> NDArray[np.float64]:
    """(k,) mass of the items whose inner product with a pick is largest, summing to 1.

    In a balanced problem items belong to the picks of their own group, if it has any. A pick stands for itself; equally
    near ones go to the first.

    Args:
        vectors: (n, d) comparable by inner product.
        picks: (k,) distinct positions.
    """
    owner = nearest(problem, vectors, vectors[picks], problem.turns[picks])
    owner[picks] = np.arange(len(picks))
    return owned(problem, owner, len(picks))


def nearest(
    problem: Problem, vectors: NDArray[np.float32], centres: NDArray[np.float32], turns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) the number of the centre of largest inner product, of the item's own group where that has one.

    Args:
        vectors: (n, d).
        centres: (k, d).
        turns: (k,) group of each centre, of `problem.turns`.
    """
    owner = np.zeros(problem.n, np.int64)
    of_items = problem.turns
    present = np.isin(of_items, turns)
    for turn in [*np.unique(turns), None]:
        members = np.flatnonzero(~present if turn is None else of_items == turn)
        own = np.arange(len(turns)) if turn is None else np.flatnonzero(turns == turn)
        for start in range(0, len(members), _BLOCK):
            part = members[start : start + _BLOCK]
            owner[part] = own[np.argmax(vectors[part] @ centres[own].T, axis=1)]
    return owner


def owned(problem: Problem, owner: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """(k,) the mass of what each owns, summing to 1."""
    sums = np.bincount(owner, weights=problem.mass, minlength=k)
    weights: NDArray[np.float64] = sums / sums.sum()
    return weights
