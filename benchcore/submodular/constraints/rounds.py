"""Balanced rounds: no group gets its next pick before every other group that still has candidates has as many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.pool import Pool


class Rounds:
    """At most `further` picks beyond the includes, in balanced rounds; with a single group that is cardinality.

    At every prefix the counts of any two groups that still have candidates differ by at most one, as soon as the
    includes allow it. Prefixes are nested: a run with fewer picks is the beginning of one with more.

    Args:
        groups: (n,) group number of each candidate, from 0.
        available: (n,) bool, candidates that may be picked; includes are not among them.
        further: picks beyond the includes.
        counts: (number of groups,) picks that each group has beforehand, includes among them: an include of a group
            that is taken later is one of these. Default: none, and includes count when they are taken.
    """

    costs: NDArray[np.float64] | None = None

    def __init__(
        self,
        groups: NDArray[np.int64],
        available: NDArray[np.bool_],
        further: int,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        size = max(int(groups.max(initial=-1)) + 1, 1 if counts is None else len(counts))
        self._counts = np.zeros(size, np.int64)
        if counts is not None:
            self._counts[: len(counts)] = counts
        self._untaken = self._counts.copy()  # of the counts, includes that may still be taken
        self._further = further
        self._pool = Pool(groups, available, size)
        self.renewals = 0
        self._pass_turn()

    def allowed(self) -> NDArray[np.bool_]:
        """(n,) the candidates of the groups whose turn it is."""
        return self._pool.allowed

    def take(self, candidate: int) -> None:
        """Record a pick, or an include."""
        group = int(self._pool.groups[candidate])
        if self._pool.available[candidate]:
            self._pool.remove(np.array([candidate]))
            self._counts[group] += 1
            self._further -= 1
        elif self._untaken[group]:
            self._untaken[group] -= 1
        else:
            self._counts[group] += 1
        self._pass_turn()

    def pool(self) -> NDArray[np.bool_]:
        """(n,) the candidates that may be picked now or later."""
        return self._pool.available

    def drop(self, candidates: NDArray[np.int64]) -> None:
        """Take candidates out for good: a group that has no other is not waited for."""
        self._pool.remove(candidates)
        self._pass_turn()

    def minima(self) -> None:
        """There are none."""

    def best_sum(self, gains: NDArray[np.float64]) -> float:
        """The largest sum over the sets of `further` picks that balanced rounds can end with."""
        return float(self._in_rounds(gains)[: max(self._further, 0)].sum())

    def best_sums(self, gains: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for every size up to that of the order."""
        sums: NDArray[np.float64] = np.cumsum(self._in_rounds(gains)[: len(order)])
        return sums

    def best_partial_sum(self, gains: NDArray[np.float64], complete: bool) -> float:
        """At least the largest sum over sets of at most `further` picks, balanced or not: a budget can unbalance."""
        largest = np.sort(gains[self._pool.available])[::-1][: max(self._further, 0)]
        return float(np.maximum(largest, 0.0).sum())

    def _in_rounds(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gains in the order in which rounds pick them best: round by round, inside each the largest first."""
        ranked, places = self._pool.ranked(gains)
        ordered: NDArray[np.float64] = gains[ranked]
        return ordered[np.lexsort((-ordered, self._counts[self._pool.groups[ranked]] + places))]

    def _pass_turn(self) -> None:
        turn = self._pool.left > 0 if self._further > 0 else np.zeros(len(self._counts), bool)
        if turn.any():
            turn &= self._counts == self._counts[turn].min()
        self.renewals += self._pool.open_only(turn)


@dataclass(frozen=True, eq=False)
class Shares:
    """What balanced rounds leave open about a number of further picks.

    Attributes:
        sure: (groups,) picks that each group gets for certain.
        extra: how many groups get one more.
        waiting: (groups,) bool, the groups that may be among them; at least `extra` many.
    """

    sure: NDArray[np.int64]
    extra: int
    waiting: NDArray[np.bool_]


def shares(counts: NDArray[np.int64], left: NDArray[np.int64], k: int) -> Shares:
    """How k further picks fall on the groups.

    Args:
        counts: (groups,) picks that each group has already.
        left: (groups,) candidates that each group still has.
        k: further picks, at most `left.sum()`.
    """
    sure = np.zeros(len(counts), np.int64)
    while True:
        waiting, level = sure < left, counts + sure
        later = level[waiting]
        if waiting.any():
            waiting &= level == later.min()
        turn = int(waiting.sum())
        if k < turn or turn == 0:
            return Shares(sure, k, waiting)
        later = later[later > later.min()]  # of groups that wait until the others have caught up
        rounds = min(k // turn, int((left - sure)[waiting].min()))
        if later.size:
            rounds = min(rounds, int(later.min() - level[waiting][0]))
        sure[waiting] += rounds
        k -= turn * rounds


def follows_rounds(
    order: NDArray[np.int64],
    groups: NDArray[np.int64],
    available: NDArray[np.bool_] | None = None,
    counts: NDArray[np.int64] | None = None,
) -> bool:
    """Say whether every pick of an order was allowed when it was made; so is then every prefix."""
    rounds = Rounds(groups, np.ones(len(groups), bool) if available is None else available, len(order), counts)
    for pick in order:
        if not rounds.allowed()[pick]:
            return False
        rounds.take(int(pick))
    return True
