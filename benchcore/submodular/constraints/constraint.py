"""What an optimizer asks of a constraint, and the plainest of them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Constraint(Protocol):
    """Which candidates may be picked next. It changes with every pick; make a new one for a new run."""

    @property
    def costs(self) -> NDArray[np.float64] | None:
        """(n,) positive, what each candidate uses up of the limits, where prices limit the set; else None."""
        ...

    @property
    def renewals(self) -> int:
        """How often the allowed candidates may have become more; while it stays, they only become fewer."""
        ...

    def allowed(self) -> NDArray[np.bool_]:
        """(n,) the candidates that may be picked next: none when the set is complete. Not to be written into."""
        ...

    def take(self, candidate: int) -> None:
        """Record a pick. An include that was never available counts all the same, and does not use up `further`."""
        ...

    def best_sum(self, gains: NDArray[np.float64]) -> float:
        """At least the sum of gains of every feasible set of picks beyond the includes; asked before any such pick.

        Args:
            gains: (n,) upper bounds on the gains of the candidates; negative ones are to be taken as they are where a
                set of that size must be filled, and may be left out where it need not.
        """
        ...

    def best_sums(self, gains: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for every prefix of an order of picks: over the feasible sets no larger (or dearer) than it.

        Returns:
            (len(order),).
        """
        ...


class Cardinality:
    """At most `further` picks beyond the includes.

    Args:
        available: (n,) bool, candidates that may be picked; includes are not among them.
        further: picks beyond the includes.
    """

    costs: NDArray[np.float64] | None = None
    renewals = 0

    def __init__(self, available: NDArray[np.bool_], further: int) -> None:
        self._available = available.copy() if further > 0 else np.zeros(len(available), bool)
        self._further = further

    def allowed(self) -> NDArray[np.bool_]:
        """(n,) the candidates that may be picked next."""
        return self._available

    def take(self, candidate: int) -> None:
        """Record a pick."""
        if self._available[candidate]:
            self._available[candidate] = False
            self._further -= 1
        if self._further <= 0:
            self._available[:] = False

    def pool(self) -> NDArray[np.bool_]:
        """(n,) the candidates that may be picked now or later."""
        return self._available

    def drop(self, candidates: NDArray[np.int64]) -> None:
        """Take candidates out for good."""
        self._available[candidates] = False

    def minima(self) -> None:
        """There are none."""

    def best_partial_sum(self, gains: NDArray[np.float64], complete: bool) -> float:
        """The largest sum over sets of at most `further` picks."""
        return float(np.maximum(_largest(gains[self._available], self._further), 0.0).sum())

    def best_sum(self, gains: NDArray[np.float64]) -> float:
        """The sum of the largest gains."""
        return float(_largest(gains[self._available], self._further).sum())

    def best_sums(self, gains: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for every prefix of an order."""
        sums: NDArray[np.float64] = np.cumsum(_largest(gains[self._available], len(order)))
        return sums


def _largest(gains: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The k largest, descending."""
    largest: NDArray[np.float64] = np.sort(gains)[::-1][:k]
    return largest
