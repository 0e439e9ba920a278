"""Facility location: how similar each represented row is to its nearest pick."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.codes import Codes
from benchcore.submodular.pairs.kept import KEPT_BYTES, MOST_PAIRS, KeptPairs
from benchcore.submodular.pairs.passes import Passes, is_large
from benchcore.submodular.pairs.raising import ENTRY_BYTES, RaisingPairs
from benchcore.submodular.similarities.similarity import Similarity

_MEMORY = 12 * 2**30
_LISTS = 0.8  # of the memory of the codes
_PASSES_BETWEEN_COUNTS = 4


class FacilityLocation:
    """f(A) = sum_i m_i max(max_{j in A} s_ij - c_i, 0) in whole numbers (Krause and Golovin 2014, section 1).

    Negative similarities count as 0. The floor c is 0 for plain facility location. With the coverage of earlier picks P
    it is the gain over these, f(A u P) - f(P), which is how an update starts; with a multiple of the similarity to what
    is to be avoided it is the conditional gain (see `avoidance`).

    Small inputs keep all similarities, and never wait for a compiler. Large ones keep none, and are solved in three
    steps, all exact: one pass over all pairs measures the gains of the first pick and keeps every similarity's upper
    bound in a byte; from these come bounds on all gains after each pick, and only what they cannot rule out is
    measured; as soon as the pairs that can still raise the coverage fit into the same memory, a second pass lists them,
    and the other picks need nothing else.

    Args:
        similarity: of candidates and represented rows.
        mass: (represented,) of `integer_mass`.
        floor: (represented,) whole numbers from 0, below which coverage counts for nothing; default: 0.
        memory: bytes that may be kept beside the rows; less than half a byte a pair makes it slower.
    """

    monotone = True
    slack = 0.0

    def __init__(
        self,
        similarity: Similarity,
        mass: NDArray[np.float64],
        floor: NDArray[np.float32] | None = None,
        *,
        memory: int = _MEMORY,
    ) -> None:
        self._similarity, self._mass, self._memory = similarity, mass, memory
        self._floor = np.zeros(similarity.represented, np.float32) if floor is None else floor
        self.coverage = self._floor.copy()
        self._passes = Passes(similarity, mass)
        self._codes: Codes | None = None
        self._current: KeptPairs | RaisingPairs | None = None  # which keeps the gains of all candidates exact
        self._passes_over_codes = 0

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._similarity.candidates

    @property
    def unit(self) -> float:
        """The value of covering everything with a similarity of 1."""
        return float(self._mass.sum()) * self._similarity.unit

    @property
    def value(self) -> float:
        """The objective at the set so far, a whole number."""
        return float(self._mass @ (self.coverage.astype(np.float64) - self._floor))

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now, whole numbers."""
        if self._current is None and self._is_small:
            self._current = KeptPairs(self._similarity, self.coverage, self._mass)
        if self._current is not None:
            return self._current.gains[candidates]
        if is_large(self._similarity) and self._codes is None and 2 * len(candidates) > self.n and self._codes_fit:
            self._codes = Codes(self._similarity, self._passes.threads, self.coverage, self._mass)
            return self._codes.gains[candidates]
        return self._passes.gains(candidates, self.coverage)

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """Lower the bounds by one pass over the codes or, without them, over the rows whose coverage rose."""
        if self._current is not None:
            np.minimum(bounds, self._current.gains, out=bounds)
            return True
        if self._codes is None:
            np.minimum(bounds, self._passes.all_gains(self.coverage), out=bounds)
            return True
        np.minimum(bounds, self._codes.bounds(self.coverage), out=bounds)
        self._passes_over_codes += 1
        if self._similarity.symmetric and self._passes_over_codes % _PASSES_BETWEEN_COUNTS == 0:
            self._list_pairs()
        return True

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        if self._current is not None:
            self._current.add(candidate)
        else:
            row = self._similarity.block(np.array([candidate]), slice(None))[0]
            np.maximum(self.coverage, row, out=self.coverage)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        return type(self)(self._similarity, self._mass, self._floor, memory=self._memory)

    def total(self) -> float:
        """The value of the set of all candidates."""
        highest = np.maximum(self._passes.highest(), self._floor)
        return float(self._mass @ (highest.astype(np.float64) - self._floor))

    def _list_pairs(self) -> None:
        """Go over to lists as soon as they take less memory than the codes, which are let go before."""
        assert self._codes is not None  # nosec B101 # for the type checker
        counts = self._codes.counts(self.coverage)
        if int(counts.sum(dtype=np.int64)) * ENTRY_BYTES <= _LISTS * self._codes.bytes:
            self._codes = None
            self._current = RaisingPairs(self._similarity, self._passes.threads, self.coverage, self._mass, counts)

    @property
    def _is_small(self) -> bool:
        pairs = self._similarity.candidates * self._similarity.represented
        return pairs <= MOST_PAIRS and pairs * KEPT_BYTES <= self._memory

    @property
    def _codes_fit(self) -> bool:
        return Codes.size(self._similarity) <= self._memory
