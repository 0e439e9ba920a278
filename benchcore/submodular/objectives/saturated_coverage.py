"""Saturated coverage: how similar each represented row is to all picks together, up to a ceiling."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.whole_sums import (
    require_mass,
    require_not_negative,
    sums_over_candidates,
)
from benchcore.submodular.pairs.tiles import blocks
from benchcore.submodular.similarities.similarity import TOP, Similarity

_LOW = 24  # bits of the lower part of a ceiling, where a product with a mass would not fit into 64 bits


class SaturatedCoverage:
    """f(A) = sum_i m_i min(sum_{j in A} s_ij, a sum_j s_ij) (Lin and Bilmes 2011, P11-1052).

    Every number is whole: ceilings are rounded down once. A gain is at most sum_i m_i s_ij <= 2^53, so gains are exact
    in double precision and returns diminish exactly. The value is kept as an integer of any size and rounded
    once when it is read, which matters above 2^53 only.

    Making one takes a pass over all pairs, for the ceilings.

    Args:
        similarity: not negative; represented rows and candidates may differ.
        mass: (n,) of `integer_mass`, for the represented rows.
        saturation: a, in (0, 1]: the share of a row's similarity to all candidates beyond which nothing is gained.

    Raises:
        ValueError: similarities may be negative, masses are not whole, or the saturation is out of range.
    """

    monotone = True
    slack = 0.0

    def __init__(self, similarity: Similarity, mass: NDArray[np.float64], saturation: float) -> None:
        if not 0 < saturation <= 1:
            raise ValueError(f"saturation must be above 0 and at most 1, got {saturation}")
        require_not_negative(similarity, "saturated coverage")
        require_mass(mass, similarity.represented)
        self._similarity, self._mass = similarity, mass
        self._ceilings = np.floor(saturation * sums_over_candidates(similarity))
        self._room = self._ceilings.copy()  # what each represented row may still gain
        self._value = 0

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._similarity.candidates

    @property
    def unit(self) -> float:
        """One unit of similarity for all mass."""
        return self._similarity.unit * float(self._mass.sum())

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return float(self._value)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now, whole numbers."""
        room = np.minimum(self._room, TOP).astype(np.float32)  # no similarity is larger
        gains = np.zeros(len(candidates))
        for chosen, part in blocks(len(candidates), len(room)):
            rise = self._similarity.block(candidates[chosen], part)
            np.minimum(rise, room[part], out=rise)
            gains[chosen] += rise.astype(np.float64) @ self._mass[part]
        return gains

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """Nothing is cheaper than the gains."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        similar = self._similarity.block(np.array([candidate]), slice(0, len(self._room)))[0]
        rise = np.minimum(similar.astype(np.float64), self._room)
        self._room -= rise
        self._value += int(self._mass @ rise)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        other = copy.copy(self)
        other._room, other._value = self._ceilings.copy(), 0
        return other

    def total(self) -> float:
        """The value of the set of all candidates: all ceilings are reached."""
        mass, ceilings = self._mass.astype(np.int64), self._ceilings.astype(np.int64)
        high, low = int(mass @ (ceilings >> _LOW)), int(mass @ (ceilings & (2**_LOW - 1)))
        return float((high << _LOW) + low)
