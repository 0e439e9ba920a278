"""Dot products of quantised rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import UNIT, Rows
from benchcore.submodular.similarities.similarity import Where


class DotSimilarity:
    """s_ij = x_i . x_j in whole numbers, exact in any block (see `quantise`).

    Args:
        candidates: (m, d) of `quantise`.
        represented: (n, d) of `quantise`; default: the candidates.
        clipped: negative products become 0.
        unit: what a similarity of 1 is; that of unit vectors by default.
    """

    def __init__(
        self, candidates: Rows, represented: Rows | None = None, *, clipped: bool = True, unit: float = float(UNIT)
    ) -> None:
        self._candidates = candidates
        self._represented = candidates if represented is None else represented
        self.symmetric = represented is None or represented is candidates
        self.signed, self.unit = not clipped, unit

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return len(self._candidates)

    @property
    def represented(self) -> int:
        """How many represented rows there are."""
        return len(self._represented)

    def block(self, candidates: Where, represented: Where) -> NDArray[np.float32]:
        """The similarities of some candidates to some represented rows."""
        product: NDArray[np.float32] = self._candidates[candidates] @ self._represented[represented].T
        if not self.signed:
            np.maximum(product, 0.0, out=product)
        return product

    def diagonal(self) -> NDArray[np.float32]:
        """(candidates,) similarity of each to itself."""
        squares: NDArray[np.float32] = np.einsum("ij,ij->i", self._candidates, self._candidates)
        return squares
