"""Weighted sums of objectives."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.objective import Objective

_UNIT = 2.0**40
_LARGEST = 2.0**53


class Mixture:
    """f(A) = sum_t w_t f_t(A), each f_t in its own terms (value / unit).

    Each part's gain is multiplied by its weight, rounded to a multiple of 2^-40 and then added, exactly. Rounding
    keeps order, so where the parts' returns diminish exactly, those of the mixture do. The gains add up to the value
    within half such a step for each part and pick.

    Args:
        parts: (weight, objective), weights finite and not negative; the objectives have the same candidates. They are
            taken afresh and not changed.

    Raises:
        ValueError: no part, a weight that is negative or not finite, or different numbers of candidates.
    """

    unit = _UNIT

    def __init__(self, parts: Sequence[tuple[float, Objective]]) -> None:
        if not parts:
            raise ValueError("a mixture needs at least one (weight, objective)")
        for place, (weight, _) in enumerate(parts):
            if not 0 <= weight < math.inf:
                raise ValueError(f"weights must be finite and not negative, got {weight} for part {place}")
        sizes = [objective.n for _, objective in parts]
        if len(set(sizes)) > 1:
            raise ValueError(f"the parts of a mixture must have the same candidates, got {sizes} of them")
        self._n = sizes[0]
        kept = [(weight * (_UNIT / part.unit), part.fresh()) for weight, part in parts if weight > 0]
        self._factors, self._parts = [factor for factor, _ in kept], [part for _, part in kept]

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._n

    @property
    def value(self) -> float:
        """The objective at the set so far, a whole number."""
        return float(sum(np.rint(factor * part.value) for factor, part in self._each()))

    @property
    def monotone(self) -> bool:
        """Whether all parts are."""
        return all(part.monotone for part in self._parts)

    @property
    def slack(self) -> float:
        """The parts' slacks, and for each that has one what its product's two roundings add to it."""
        return sum(factor * part.slack + 2.0 for factor, part in self._each() if part.slack > 0)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now, whole numbers.

        Raises:
            ValueError: a gain is beyond 2^13, where a multiple of 2^-40 cannot be told from the next.
        """
        gains = np.zeros(len(candidates))
        for factor, part in self._each():
            gains += np.rint(factor * part.gains(candidates))
            if gains.size and not np.abs(gains).max() < _LARGEST:
                raise ValueError(f"gains of a mixture must stay below {_LARGEST / _UNIT:.0f}; divide its weights")
        return gains

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """Bounds on the sum say nothing of the parts."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        for part in self._parts:
            part.add(candidate)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        other = copy.copy(self)
        other._parts = [part.fresh() for part in self._parts]
        return other

    def total(self) -> float:
        """The value of the set of all candidates."""
        return float(sum(np.rint(factor * part.total()) for factor, part in self._each()))

    def _each(self) -> list[tuple[float, Objective]]:
        return list(zip(self._factors, self._parts, strict=True))
