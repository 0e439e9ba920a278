"""Dot products of quantised rows, bent by a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.curve import Curve
from benchcore.submodular.similarities.similarity import TOP, Where

_WORTH_COMPILING = 5e7  # pairs from which on the compiler's second is won back


class CurvedSimilarity:
    """s_ij = curve(x_i . y_j) in whole numbers, exact in any block; never negative.

    Args:
        candidates: (m, d) whole numbers, whose products with represented rows are whole numbers of at most TOP.
        represented: (n, d) likewise.
        curve: from products to similarities.
        symmetric: whether candidates and represented rows stand for the same, and x_i . y_j = x_j . y_i.
        unit: what a similarity of 1 is.
    """

    signed = False

    def __init__(
        self, candidates: Rows, represented: Rows, curve: Curve, *, symmetric: bool, unit: float = float(TOP)
    ) -> None:
        self._candidates, self._represented, self._curve = candidates, represented, curve
        self.symmetric, self.unit = symmetric, unit
        self._compiled = len(candidates) * len(represented) >= _WORTH_COMPILING

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
        self._curve.bend(product, compiled=self._compiled)
        return product

    def diagonal(self) -> NDArray[np.float32]:
        """(candidates,) similarity of each to itself."""
        products: NDArray[np.float32] = np.einsum("ij,ij->i", self._candidates, self._represented)
        self._curve.bend(products)
        return products
