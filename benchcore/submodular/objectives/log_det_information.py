"""Log-determinant mutual information: spread that a query set explains."""

from __future__ import annotations

import math
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.conditional_variance import KernelVariance
from benchcore.submodular.objectives.log_determinant import REMEDY, rounding_of_pick, variance_of
from benchcore.submodular.similarities.similarity import Similarity

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


class LogDetMI:
    """f(A) = log det S_A - log det(S_A - eta^2 S_AQ S_Q^-1 S_QA), where S = similarity / unit + ridge I.

    From Kothawade et al. 2022 (PRISM, arXiv 2103.00128); the ridge is what submodlib adds to the diagonals of S_A and
    S_Q. It is (twice) the mutual information of Gaussian variables A and Q, and never falls as A grows, but it is not
    submodular in A: one pick can make another one tell more about the query. So all gains are measured for every pick,
    and no optimizer's guarantee holds.

    Args:
        similarity: (n, n) symmetric, of candidates with themselves; positive semi-definite together with the others.
        query: (n, q) of candidates to the query rows.
        queries: (q, q) symmetric, of query rows with themselves.
        eta: not negative; more counts likeness to the query for more. Above 1 there may be no such determinant.
        ridge: positive.

    Raises:
        ValueError: shapes do not fit, or eta or the ridge is out of range; later on, in `gains` and `add`: a kernel is
            not positive semi-definite (names a candidate; rows of the query count on from n).
    """

    unit = 1.0
    monotone = True
    slack = math.inf

    def __init__(
        self, similarity: Similarity, query: Similarity, queries: Similarity, eta: float = 1.0, ridge: float = 1.0
    ) -> None:
        n, q = query.candidates, query.represented
        if (similarity.candidates, queries.candidates) != (n, q):
            raise ValueError(
                f"expected similarities of ({n}, {n}), ({n}, {q}) and ({q}, {q}) rows, got "
                f"{similarity.candidates} candidates and {queries.candidates} query rows"
            )
        if not (math.isfinite(eta) and eta >= 0):
            raise ValueError(f"eta must be a number of at least 0, got {eta}")
        if not (math.isfinite(ridge) and ridge > 0):
            raise ValueError(f"the ridge must be a positive number, got {ridge}")
        self._alone = variance_of(similarity, 1 / ridge)
        self._query_variance = variance_of(queries, 1 / ridge)
        self._joint = _joint(self._alone, query, self._query_variance, eta, 1 / ridge)
        self._queries = np.arange(n, n + q)
        self._start()

    def _start(self) -> None:
        self._alone, self._given = self._alone.fresh(), self._joint.fresh()
        for row in self._queries:
            self._given.pick(int(row))
        self._value = 0.0

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._alone.n

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return self._value

    def gains(self, candidates: Indices) -> Floats:
        """By how much each of these candidates would raise the value now.

        Raises:
            ValueError: a kernel is not positive semi-definite; names the candidate.
        """
        alone, given = self._alone.given_picks(candidates), self._given.given_picks(candidates)
        gains: Floats = np.maximum(np.log(alone) - np.log(given), 0.0)
        return gains

    def tighten(self, bounds: Floats) -> bool:
        """There is no bound on a gain that may rise."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        self._value += float(self.gains(np.array([candidate]))[0])
        self._alone.pick(candidate)
        self._given.pick(candidate)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        new = copy(self)
        new._start()
        return new

    def total(self) -> float:
        """The value of the set of all candidates: O((n + q)^3) steps."""
        return self._alone.log_det() + self._query_variance.log_det() - self._joint.log_det()


def _joint(
    candidates: KernelVariance, query: Similarity, queries: KernelVariance, eta: float, scale: float
) -> KernelVariance:
    """Candidates, then query rows, with what lies between the two multiplied by eta."""
    n, factor = candidates.n, eta * scale / query.unit

    def entries(rows: Indices, picks: Indices) -> Floats:
        found = np.empty((len(rows), len(picks)))
        row_in_query, pick_in_query = rows >= n, picks >= n
        for kernel, inside, offset in ((candidates, False, 0), (queries, True, n)):
            here = np.flatnonzero(row_in_query == inside), np.flatnonzero(pick_in_query == inside)
            found[np.ix_(*here)] = kernel.entries(rows[here[0]] - offset, picks[here[1]] - offset)
        across = np.flatnonzero(~row_in_query), np.flatnonzero(pick_in_query)
        found[np.ix_(*across)] = query.block(rows[across[0]], picks[across[1]] - n) * np.float64(factor)
        back = np.flatnonzero(row_in_query), np.flatnonzero(~pick_in_query)
        found[np.ix_(*back)] = query.block(picks[back[1]], rows[back[0]] - n).T * np.float64(factor)
        return found

    diagonal = np.concatenate([candidates.diagonal, queries.diagonal])
    rounding = max(candidates.rounding, queries.rounding, rounding_of_pick(diagonal, factor))
    return KernelVariance(
        diagonal, entries, 1.0 if eta <= 1 else 0.0, rounding, f"{REMEDY} (a larger ridge), or a smaller eta"
    )
