"""Similarities that count up to a cap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import Similarity, Where


class CappedSimilarity:
    """min(s_ij, cap_i) for represented rows i.

    Args:
        similarity: what is capped.
        caps: (represented,) whole numbers from 0.
    """

    symmetric = False

    def __init__(self, similarity: Similarity, caps: NDArray[np.float32]) -> None:
        self._similarity, self._caps = similarity, caps
        self.signed, self.unit = similarity.signed, similarity.unit

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return self._similarity.candidates

    @property
    def represented(self) -> int:
        """How many represented rows there are."""
        return self._similarity.represented

    def block(self, candidates: Where, represented: Where) -> NDArray[np.float32]:
        """The capped similarities of some candidates to some represented rows."""
        block = self._similarity.block(candidates, represented)
        np.minimum(block, self._caps[represented], out=block)
        return block

    def diagonal(self) -> NDArray[np.float32]:
        """(candidates,) capped similarity of each to itself, where candidates are the represented rows."""
        diagonal: NDArray[np.float32] = np.minimum(self._similarity.diagonal(), self._caps)
        return diagonal
