"""A problem's vectors brought to length 1: squared distances are 2 - 2 cosine, and lengths mean nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem
from benchcore.submodular.quantise import require_directions

Directions = NDArray[np.float32]


def directions(problem: Problem) -> Directions:
    """(n, d) rows of length 1 of the block `embedding`.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors = problem.features["embedding"]
    require_directions(vectors, problem.ids)
    return unit_rows(vectors)


def unit_rows(vectors: NDArray[np.floating]) -> Directions:
    """(n, d) rows of length 1, of rows that all have a direction."""
    largest = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float64)
    scaled = vectors / largest
    unit: Directions = (scaled / np.sqrt((scaled**2).sum(axis=1, keepdims=True))).astype(np.float32)
    return unit
