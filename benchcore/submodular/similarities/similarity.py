"""What a pairwise objective asks of a similarity: blocks of whole numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Where = slice | NDArray[np.int64]

TOP = 2**24  # no similarity is larger: single precision holds every whole number up to this


class Similarity(Protocol):
    """Similarities of candidates to represented rows, as whole numbers of absolute value at most TOP."""

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        ...

    @property
    def represented(self) -> int:
        """How many represented rows there are."""
        ...

    @property
    def unit(self) -> float:
        """The whole number that stands for a similarity of 1."""
        ...

    @property
    def symmetric(self) -> bool:
        """Whether candidates and represented rows are the same, and s_ij = s_ji."""
        ...

    @property
    def signed(self) -> bool:
        """Whether some may be negative."""
        ...

    def block(self, candidates: Where, represented: Where) -> NDArray[np.float32]:
        """The similarities of some candidates to some represented rows, a new array of (candidates, represented)."""
        ...

    def diagonal(self) -> NDArray[np.float32]:
        """(candidates,) similarity of each to itself, where it is symmetric."""
        ...
