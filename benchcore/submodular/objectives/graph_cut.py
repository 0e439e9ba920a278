"""Graph cut: how similar the picks are to everything, less how similar they are to each other."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.whole_sums import require_mass, require_not_negative, sums_over_represented
from benchcore.submodular.similarities.similarity import Similarity


class GraphCut:
    """f(A) = sum_i sum_{j in A} m_i s_ij - lambda m sum_{i, j in A} s_ij, m the mean mass (Iyer et al. 2021).

    With equal masses it is m times the graph cut of the literature (and of submodlib), sum_{i, j in A} s_ij over all i
    less lambda times that over i in A: with masses that sum to 1, in its own terms, an n-th of it. The second sum runs
    over ordered pairs, each pick with itself among them.

    Both sums are exact whole numbers; a gain is the first less lambda m times the second, rounded once
    after the product and once after the difference. Since the second sum only grows and rounding keeps order, returns
    diminish exactly. Gains may be negative where lambda is above 1/2, and with unequal masses below it: `monotone` says
    whether any ever is.

    Making one takes a pass over all pairs; a gain after that is one subtraction, a pick n similarities.

    Args:
        similarity: symmetric and not negative.
        mass: (n,) of `integer_mass`.
        redundancy: lambda, not negative: 0 only represents, larger values diversify.

    Raises:
        ValueError: the similarity is not symmetric or may be negative, masses are not whole, or redundancy is negative.
    """

    slack = 0.0

    def __init__(self, similarity: Similarity, mass: NDArray[np.float64], redundancy: float) -> None:
        if not 0 <= redundancy < float("inf"):
            raise ValueError(f"redundancy must be finite and not negative, got {redundancy}")
        if not similarity.symmetric:
            raise ValueError(
                "graph cut compares picks with each other: candidates and represented rows must be the same, and "
                "similarities symmetric (for a precomputed matrix take the mean of it and its transpose)"
            )
        require_not_negative(similarity, "graph cut")
        require_mass(mass, similarity.represented)
        self._similarity = similarity
        self._mass = float(mass.sum())
        self._weight = redundancy * self._mass / len(mass)
        sums = sums_over_represented(similarity, np.column_stack([mass, np.ones(len(mass))]))
        self._represents = np.ascontiguousarray(sums[:, 0])
        self._self_similarity = similarity.diagonal().astype(np.float64)
        # Gains only fall: a candidate's least is that of the last to come.
        self._all_repeats = sums[:, 1]
        last = self._represents - self._weight * (2 * self._all_repeats - self._self_similarity)
        self._monotone = bool((last >= 0).all())
        self._repeats = self._self_similarity.copy()  # what each candidate would add to the second sum
        self._represented = self._repeated = 0  # the two sums over the set: integers, which may exceed 2^53

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._similarity.candidates

    @property
    def unit(self) -> float:
        """One unit of similarity for all mass."""
        return self._similarity.unit * self._mass

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return float(self._represented) - self._weight * float(self._repeated)

    @property
    def monotone(self) -> bool:
        """Whether no gain is ever negative, for this redundancy, these masses and these similarities."""
        return self._monotone

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now."""
        gains: NDArray[np.float64] = self._represents[candidates] - self._weight * self._repeats[candidates]
        return gains

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """All gains are at hand."""
        np.minimum(bounds, self._represents - self._weight * self._repeats, out=bounds)
        return True

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        self._represented += int(self._represents[candidate])
        self._repeated += int(self._repeats[candidate])
        similar = self._similarity.block(np.array([candidate]), slice(0, self.n))[0]
        self._repeats += 2 * similar.astype(np.float64)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        other = copy.copy(self)
        other._repeats = self._self_similarity.copy()
        other._represented = other._repeated = 0
        return other

    def total(self) -> float:
        """The value of the set of all candidates."""
        represented, repeated = (sum(map(int, sums)) for sums in (self._represents, self._all_repeats))
        return float(represented) - self._weight * float(repeated)
