"""Sums over a query set, in blocks of candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import Similarity

_PAIRS = 2**21  # similarities at a time


def blocks(query: Similarity, candidates: NDArray[np.int64]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """The similarities of candidates to all query rows: where they belong among the candidates, and (some, query)."""
    step = max(1, _PAIRS // max(1, query.represented))
    for start in range(0, len(candidates), step):
        some = slice(start, start + step)
        yield some, query.block(candidates[some], slice(None))


def highest(query: Similarity) -> NDArray[np.float32]:
    """(candidates,) the largest similarity of each to any query row, at least 0."""
    found = np.zeros(query.candidates, np.float32)
    for some, block in blocks(query, np.arange(query.candidates)):
        found[some] = block.max(axis=1, initial=0.0)
    return found


def sums(query: Similarity) -> NDArray[np.float64]:
    """(candidates,) the sum of similarities of each to all query rows, whole numbers."""
    found = np.zeros(query.candidates)
    for some, block in blocks(query, np.arange(query.candidates)):
        found[some] = block.sum(axis=1, dtype=np.float64)
    return found
