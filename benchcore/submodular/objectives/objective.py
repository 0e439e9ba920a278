"""What an optimizer asks of an objective; a new objective is one file with a class that answers it."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray


class Measured(Protocol):
    """As much of an objective as the naive greedy asks of it."""

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        ...

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates, none of them in the set, would raise the value now."""
        ...

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        ...


class Bounded(Measured, Protocol):
    """As much as the lazy greedy asks of an objective, whose gains never rise by more than the slack."""

    @property
    def n(self) -> int:
        """How many candidates there are."""
        ...

    @property
    def slack(self) -> float:
        """By how much a gain may rise as the set grows: 0, what rounding adds, or infinity if not submodular."""
        ...

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """Lower upper bounds on all gains in place, where that is far cheaper than the gains; False where it is not.

        Args:
            bounds: (n,) each at least the candidate's gain, before and after.
        """
        ...


class Objective(Bounded, Protocol):
    """A set function of a growing set of candidates, 0 at the empty set.

    A gain depends on the set and the candidate alone, to the last bit: not on which candidates are asked together, nor
    on threads, blocks or the order of rows. Sums of whole numbers in double precision have that for nothing; others
    add up in one fixed order.
    """

    @property
    def unit(self) -> float:
        """What 1 is here: a value in the objective's own terms is `value / unit`."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether no gain is ever negative."""
        ...

    def fresh(self) -> Self:
        """The same objective at the empty set; shares what never changes."""
        ...

    def total(self) -> float:
        """The value of the set of all candidates."""
        ...
