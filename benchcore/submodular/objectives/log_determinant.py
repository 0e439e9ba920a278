"""Log-determinants: how far the picks spread, as a determinantal point process sees it."""

from __future__ import annotations

import math
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.conditional_variance import ConditionalVariance, KernelVariance, LowRankVariance
from benchcore.submodular.quantise import UNIT, Rows
from benchcore.submodular.similarities.similarity import Similarity

REMEDY = "use a kernel that is: rbf, shifted_cosine, or a cosine whose negative values are kept; or a smaller scale"

_EPS = float(np.finfo(np.float64).eps)


class LogDeterminant:
    """f(A) = log det(I + a K_A) for a positive semi-definite kernel K = similarity / unit.

    The fast greedy MAP of Chen, Zhang and Zhou 2018 (arXiv 1709.05135): O(k) steps for a candidate and a pick, and none
    for candidates that a lazy optimizer does not ask about. With the identity the value is finite for any k, never
    falls, and is never negative; for a large a it is log det K_A + |A| log a. Kernels that are rounded to whole numbers
    may miss being positive semi-definite by the rounding: gains that this lowers below 0 are 0.

    Args:
        similarity: symmetric, of candidates with themselves; may be signed.
        scale: a, positive: how much similarity counts against variety.

    Raises:
        ValueError: the kernel is not symmetric, or the scale not positive; later on, in `gains` and `add`: the kernel
            is not positive semi-definite (names a candidate).
    """

    unit = 1.0
    monotone = True

    def __init__(self, similarity: Similarity, scale: float = 1.0) -> None:
        require_scale(scale)
        self._start(variance_of(similarity, scale))

    def _start(self, variance: ConditionalVariance) -> None:
        self._variance, self._value = variance, 0.0

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._variance.n

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return self._value

    @property
    def slack(self) -> float:
        """What the logarithm's rounding may add: d^2 itself only ever falls."""
        return 4 * _EPS * math.log(self._variance.highest)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now: log d^2.

        Raises:
            ValueError: the kernel is not positive semi-definite; names the candidate.
        """
        gains: NDArray[np.float64] = np.log(self._variance.given_picks(candidates))
        return gains

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """There is no cheaper way than to measure."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        self._value += float(self.gains(np.array([candidate]))[0])
        self._variance.pick(candidate)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        new = copy(self)
        new._start(self._variance.fresh())
        return new

    def total(self) -> float:
        """The value of the set of all candidates: O(n^3) steps from a kernel, O(n d^2) from rows."""
        return self._variance.log_det()


class LowRankLogDeterminant(LogDeterminant):
    """The same f for K = X X' / unit from the rows X: O(d) steps for a candidate and a pick also beyond k = d.

    It needs no similarities and keeps a number for each candidate, not one for each candidate and pick.

    Args:
        rows: (n, d) whole numbers, of `quantise`.
        scale: a, positive.
        unit: what a product of 1 is.

    Raises:
        ValueError: the scale is not positive.
    """

    def __init__(self, rows: Rows, scale: float = 1.0, unit: float = float(UNIT)) -> None:
        require_scale(scale)
        self._start(LowRankVariance(rows, scale / unit))


def require_scale(scale: float) -> None:
    """Refuse a scale that is not a positive number."""
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"the scale of a log-determinant must be a positive number, got {scale}")


def variance_of(similarity: Similarity, scale: float) -> KernelVariance:
    """Conditional variances under I + scale * similarity / unit.

    Raises:
        ValueError: the similarity is not symmetric.
    """
    if not similarity.symmetric:
        raise ValueError("a log-determinant needs the symmetric similarities of candidates with themselves")
    factor = scale / similarity.unit

    def entries(rows: NDArray[np.int64], picks: NDArray[np.int64]) -> NDArray[np.float64]:
        return similarity.block(rows, picks).astype(np.float64) * factor

    diagonal = 1.0 + similarity.diagonal().astype(np.float64) * factor
    return KernelVariance(diagonal, entries, 1.0, rounding_of_pick(diagonal, factor), REMEDY)


def rounding_of_pick(diagonal: NDArray[np.float64], factor: float) -> float:
    """By how much rounding may lower a conditional variance for each pick.

    Rounding entries by up to one whole number moves an eigenvalue of k rows by up to k whole numbers; the rest is what
    double precision adds.
    """
    return factor + 1e-12 * float(diagonal.max(initial=1.0))
