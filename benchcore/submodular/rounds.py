"""Balanced rounds: no group gets its next pick before every other group that still has candidates has as many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class Rounds:
    """Which candidates may be picked next. With a single group this is plain cardinality.

    Args:
        groups: (n,) group number of each candidate, from 0.
        available: (n,) bool, candidates that may be picked; default: all.
        counts: (number of groups,) picks that each group has already; default: none.
    """

    def __init__(
        self,
        groups: NDArray[np.int64],
        available: NDArray[np.bool_] | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        self.groups = groups
        self.available = np.ones(len(groups), bool) if available is None else available.copy()
        size = max(int(groups.max(initial=-1)) + 1, 0 if counts is None else len(counts))
        self.counts = np.zeros(size, np.int64)
        if counts is not None:
            self.counts[: len(counts)] = counts
        self.left = np.bincount(groups[self.available], minlength=size)

    def allowed(self) -> NDArray[np.int64]:
        """The candidates that may be picked next, ascending; none when all are picked."""
        open_groups = self.left > 0
        if not open_groups.any():
            return np.zeros(0, np.int64)
        turn = open_groups & (self.counts == self.counts[open_groups].min())
        return np.flatnonzero(self.available & turn[self.groups])

    def take(self, candidate: int) -> None:
        """Record a pick; one that was not available (given from outside) counts for its group all the same."""
        group = self.groups[candidate]
        self.counts[group] += 1
        if self.available[candidate]:
            self.available[candidate] = False
            self.left[group] -= 1


@dataclass(frozen=True, eq=False)
class Quotas:
    """What balanced rounds leave open about a number of further picks.

    Attributes:
        sure: (groups,) picks that each group gets for certain.
        extra: how many groups get one more.
        waiting: (groups,) bool, the groups that may be among them; at least `extra` many.
    """

    sure: NDArray[np.int64]
    extra: int
    waiting: NDArray[np.bool_]


def quotas(counts: NDArray[np.int64], left: NDArray[np.int64], k: int) -> Quotas:
    """How k further picks fall on the groups.

    Args:
        counts: (groups,) picks that each group has already.
        left: (groups,) candidates that each group still has.
        k: further picks, at most `left.sum()`.
    """
    sure = np.zeros(len(counts), np.int64)
    while True:
        waiting = sure < left
        if waiting.any():
            waiting &= counts + sure == (counts + sure)[waiting].min()
        turn = int(waiting.sum())
        if k < turn or turn == 0:
            return Quotas(sure, k, waiting)
        sure[waiting] += 1
        k -= turn


def follows_rounds(
    order: NDArray[np.int64],
    groups: NDArray[np.int64],
    available: NDArray[np.bool_] | None = None,
    counts: NDArray[np.int64] | None = None,
) -> bool:
    """Say whether every pick of an order was allowed when it was made; so is then every prefix."""
    rounds = Rounds(groups, available, counts)
    for pick in order:
        if int(pick) not in rounds.allowed():
            return False
        rounds.take(int(pick))
    return True
