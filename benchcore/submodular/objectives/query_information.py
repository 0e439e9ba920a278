"""Likeness to a query set: the mutual information functions of facility location, graph cut and concave sums.

From Kothawade et al. 2022 (PRISM, arXiv 2103.00128); submodlib calls FLVMI FL1MI and FLQMI FL2MI. A query is
given as the similarity of candidates (or, for FLVMI, of represented rows) to query rows.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.concave import CONCAVE
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.objectives.query_blocks import blocks, highest, sums
from benchcore.submodular.similarities.capped import CappedSimilarity
from benchcore.submodular.similarities.similarity import TOP, Similarity

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

NONE: Indices = np.zeros(0, np.int64)


def FLVMI(similarity: Similarity, query: Similarity, mass: NDArray[np.float64], eta: float = 1.0) -> FacilityLocation:
    """f(A) = sum_i m_i min(max_{j in A} s_ij, eta max_{q in Q} s_iq): cover what the query is like.

    A row counts up to its likeness to the query, so this is facility location on capped similarities: whole numbers,
    exact, with the caps rounded to the nearest.

    Args:
        similarity: of candidates to represented rows.
        query: of the represented rows (as its candidates) to query rows.
        mass: (represented,) of `integer_mass`.
        eta: not negative; more lets likeness to the query count for more, and saturates later.

    Raises:
        ValueError: shapes do not fit, or eta is negative or not finite.
    """
    if query.candidates != similarity.represented:
        raise ValueError(
            f"FLVMI needs the query's similarity to each of {similarity.represented} represented rows, got "
            f"{query.candidates}"
        )
    return FacilityLocation(CappedSimilarity(similarity, coverage_caps(query, eta, similarity.unit)), mass)


def coverage_caps(query: Similarity, eta: float = 1.0, unit: float | None = None) -> NDArray[np.float32]:
    """(rows,) up to what each represented row's coverage counts in FLVMI, whole numbers.

    Args:
        query: of the represented rows (as its candidates) to query rows.
        eta: as of `FLVMI`.
        unit: what a similarity of 1 is to the facility location; default: the same as here.

    Raises:
        ValueError: eta is negative or not finite.
    """
    _require_weight("eta", eta)
    factor = eta * ((query.unit if unit is None else unit) / query.unit)
    caps: NDArray[np.float32] = np.minimum(np.rint(factor * highest(query).astype(np.float64)), TOP).astype(np.float32)
    return caps


class FLQMI:
    """f(A) = sum_{q in Q} max_{j in A} s_qj + eta sum_{j in A} max_{q in Q} s_qj: cover the query with what is like it.

    Both sums are whole numbers; rounding comes in with eta alone, and cannot make a gain rise.

    Args:
        query: of candidates to query rows, not negative.
        eta: not negative; how much each pick's own likeness counts beside the coverage of the query.

    Raises:
        ValueError: similarities may be negative, or eta is negative or not finite.
    """

    monotone = True
    slack = 0.0

    def __init__(self, query: Similarity, eta: float = 1.0) -> None:
        _require_weight("eta", eta)
        _require_not_negative(query, "FLQMI")
        self._query, self._eta, self.unit = query, eta, query.unit
        self._likeness = highest(query).astype(np.float64)
        self._start()

    def _start(self) -> None:
        self._coverage = np.zeros(self._query.represented, np.float32)
        self._liked = 0.0

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._query.candidates

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return float(self._coverage.sum(dtype=np.float64)) + self._eta * self._liked

    def gains(self, candidates: Indices) -> Floats:
        """By how much each of these candidates would raise the value now."""
        gains = self._eta * self._likeness[candidates]
        for some, block in blocks(self._query, candidates):
            gains[some] += np.maximum(block - self._coverage, 0.0).sum(axis=1, dtype=np.float64)
        return gains

    def tighten(self, bounds: Floats) -> bool:
        """There is no cheaper way than to measure."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        row = self._query.block(np.array([candidate]), slice(None))[0]
        np.maximum(self._coverage, row, out=self._coverage)
        self._liked += float(self._likeness[candidate])

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        new = copy(self)
        new._start()
        return new

    def total(self) -> float:
        """The value of the set of all candidates."""
        covered = np.zeros(self._query.represented, np.float32)
        for _, block in blocks(self._query, np.arange(self.n)):
            np.maximum(covered, block.max(axis=0), out=covered)
        return float(covered.sum(dtype=np.float64)) + self._eta * float(self._likeness.sum())


class GCMI:
    """f(A) = 2 lam sum_{j in A, q in Q} s_jq: likeness alone, each pick for itself (modular).

    Sums are whole numbers; rounding comes in with lam alone.

    Args:
        query: of candidates to query rows; where some are negative, f is not monotone.
        lam: not negative.

    Raises:
        ValueError: lam is negative or not finite.
    """

    slack = 0.0

    def __init__(self, query: Similarity, lam: float = 1.0) -> None:
        _require_weight("lam", lam)
        self._weight, self.unit = 2.0 * lam, query.unit
        self._sums, self._sum = sums(query), 0.0
        self.monotone = not query.signed

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return len(self._sums)

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return self._weight * self._sum

    def gains(self, candidates: Indices) -> Floats:
        """By how much each of these candidates would raise the value, whatever the set."""
        gains: Floats = self._weight * self._sums[candidates]
        return gains

    def tighten(self, bounds: Floats) -> bool:
        """Gains never change."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        self._sum += float(self._sums[candidate])

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        new = copy(self)
        new._sum = 0.0
        return new

    def total(self) -> float:
        """The value of the set of all candidates."""
        return self._weight * float(self._sums.sum())


class COM:
    """f(A) = eta sum_{j in A} psi(sum_q s_jq) + sum_q psi(sum_{j in A} s_jq): a concave sum for each query row.

    The sums inside psi are whole numbers, and terms add up in the query's order: returns diminish to the last bit (see
    `concave`).

    Args:
        query: of candidates to query rows, not negative.
        eta: not negative; how much each pick's own likeness counts beside the coverage of the query.
        psi: by name, in `concave`: "sqrt", "log" (of 1 + x), "ratio" (x / (1 + x), submodlib's inverse) or "min".

    Raises:
        ValueError: similarities may be negative, psi is unknown, or eta is negative or not finite.
    """

    monotone = True
    slack = 0.0

    def __init__(self, query: Similarity, eta: float = 1.0, psi: str = "sqrt") -> None:
        _require_weight("eta", eta)
        _require_not_negative(query, "COM")
        if psi not in CONCAVE:
            raise ValueError(f"psi must be one of {', '.join(CONCAVE)}, got {psi!r}")
        self._query, self._eta, self._psi = query, eta, CONCAVE[psi]
        self.unit = float(self._psi.unit(query.unit))
        self._likeness = eta * self._values(sums(query))
        self._start()

    def _start(self) -> None:
        self._sums, self._picks = np.zeros(self._query.represented), NONE

    def _values(self, sums: Floats) -> Floats:
        values: Floats = self._psi.rise(np.zeros_like(sums), sums, self._query.unit)
        return values

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._query.candidates

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return self._value(self._picks, self._sums)

    def gains(self, candidates: Indices) -> Floats:
        """By how much each of these candidates would raise the value now."""
        gains = self._likeness[candidates]
        for some, block in blocks(self._query, candidates):
            rises = self._psi.rise(self._sums, block.astype(np.float64), self._query.unit)
            gains[some] += np.cumsum(rises, axis=1)[:, -1]  # in order, unlike a sum
        return gains

    def tighten(self, bounds: Floats) -> bool:
        """There is no cheaper way than to measure."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        self._sums = self._sums + self._query.block(np.array([candidate]), slice(None))[0]
        self._picks = np.append(self._picks, candidate)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        new = copy(self)
        new._start()
        return new

    def total(self) -> float:
        """The value of the set of all candidates."""
        everything = np.zeros(self._query.represented)
        for _, block in blocks(self._query, np.arange(self.n)):
            everything += block.sum(axis=0, dtype=np.float64)
        return self._value(np.arange(self.n), everything)

    def _value(self, picks: Indices, sums: Floats) -> float:
        return math.fsum(self._likeness[picks]) + math.fsum(self._values(sums))


def _require_weight(name: str, weight: float) -> None:
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueError(f"{name} must be a number of at least 0, got {weight}")


def _require_not_negative(query: Similarity, name: str) -> None:
    if query.signed:
        raise ValueError(f"{name} needs similarities that are not negative: use a clipped kernel")
