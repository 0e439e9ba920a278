"""What an optimizer asks of an objective; a new objective is one file with a class that answers it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Objective(Protocol):
    """A monotone submodular function of a growing set of candidates.

    Gains are whole numbers in double precision, so that they are equal or unequal without luck, and parts of them that
    were computed elsewhere add up in any order.
    """

    @property
    def n(self) -> int:
        """How many candidates there are."""
        ...

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates alone would raise the value now."""
        ...

    def all_gains(self) -> NDArray[np.float64]:
        """The same for every candidate, from what was known before the last picks."""
        ...

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        ...
