"""Quotas: a minimum and a maximum of picks for each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.pool import Pool


class Quotas:
    """`further` picks beyond the includes, with at least `low` and at most `high` in each group.

    What is allowed is exactly what can still be completed to such a set. The subsets of such sets are a matroid, so
    greedy is within 1/2 of the optimum (Fisher, Nemhauser and Wolsey 1978). Prefixes are not nested across k: how soon
    a minimum presses depends on how many picks there are.

    Args:
        groups: (n,) group number of each candidate, from 0.
        available: (n,) bool, candidates that may be picked; includes are not among them.
        further: picks beyond the includes.
        low: (number of groups,) least picks of each group, includes among them.
        high: (number of groups,) most picks of each group, includes among them.
        counts: (number of groups,) picks that each group has beforehand, includes among them: an include of a group
            that is taken later is one of these. Default: none, and includes count when they are taken (but the
            quotas must then be possible without them).
        names: (number of groups,) what errors call the groups; default: their numbers.

    Raises:
        ValueError: the quotas cannot be met; says which and why.
    """

    costs: NDArray[np.float64] | None = None

    def __init__(
        self,
        groups: NDArray[np.int64],
        available: NDArray[np.bool_],
        further: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        *,
        counts: NDArray[np.int64] | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        size = len(low)
        if len(high) != size or int(groups.max(initial=-1)) >= size or (counts is not None and len(counts) > size):
            raise ValueError(f"quotas need a minimum and a maximum for each group, got {size} and {len(high)}")
        self._names = range(size) if names is None else names
        given = np.zeros(size, np.int64)
        if counts is not None:
            given[: len(counts)] = counts
        self._untaken = given.copy()  # of the counts, includes that may still be taken
        self._pool = Pool(groups, available, size)
        self._further = further
        self._refuse_impossible(low, high, given)
        self._need = np.maximum(low - given, 0)
        self._room = high - given
        self._refuse_impossible_size()
        self.renewals = 0
        self._close_full()

    def allowed(self) -> NDArray[np.bool_]:
        """(n,) the candidates with which the quotas can still be met."""
        return self._pool.allowed

    def take(self, candidate: int) -> None:
        """Record a pick, or an include.

        Raises:
            ValueError: with this include the quotas cannot be met.
        """
        group = int(self._pool.groups[candidate])
        if self._pool.available[candidate]:
            self._pool.remove(np.array([candidate]))
            self._further -= 1
            self._count(group)
        elif self._untaken[group]:
            self._untaken[group] -= 1
        else:
            self._count(group)
            if self._room[group] < 0:
                raise ValueError(f"group {self._names[group]}: more includes than its maximum; raise it or drop some")
            self._refuse_impossible_size()
        self._close_full()

    def pool(self) -> NDArray[np.bool_]:
        """(n,) the candidates that may be picked now or later."""
        return self._pool.available

    def drop(self, candidates: NDArray[np.int64]) -> None:
        """Take candidates out for good. The minima must stay possible without them; `further` need not."""
        self._pool.remove(candidates)
        self._close_full()

    def minima(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(n,) groups, and (number of groups,) how many picks each of them still needs."""
        return self._pool.groups, self._need

    def best_sum(self, gains: NDArray[np.float64]) -> float:
        """The largest sum over the sets that meet the quotas."""
        needed, extra = self._best(gains)
        return float(needed.sum() + extra.sum())

    def best_sums(self, gains: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same over the sets of each size that can be completed to one that meets the quotas.

        They are the independent sets of a matroid, so that the best of every size grow from each other (Edmonds 1971).
        """
        best = np.concatenate(self._best(gains))
        sums: NDArray[np.float64] = np.cumsum(np.sort(best)[::-1][: len(order)])
        return sums

    def best_partial_sum(self, gains: NDArray[np.float64], complete: bool) -> float:
        """The largest sum over sets of at most `further` picks that keep to the maxima.

        Args:
            gains: (n,).
            complete: whether they meet the minima, or can be completed to sets that do.
        """
        needed, extra = self._best(gains)
        return float((needed if complete else np.maximum(needed, 0.0)).sum() + np.maximum(extra, 0.0).sum())

    def _best(self, gains: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The largest gains that fill the minima, and those that fill the picks beyond these, descending."""
        ranked, places = self._pool.ranked(gains)
        groups, ordered = self._pool.groups[ranked], gains[ranked]
        needed = places < self._need[groups]
        extra = ordered[~needed & (places < self._room[groups])]
        return ordered[needed], np.sort(extra)[::-1][: max(self._free(), 0)]

    def _free(self) -> int:
        """Picks that no minimum claims."""
        return self._further - int(self._need.sum())

    def _count(self, group: int) -> None:
        self._need[group] = max(self._need[group] - 1, 0)
        self._room[group] -= 1

    def _close_full(self) -> None:
        open_groups = (self._room > 0) & (self._pool.left > 0) & ((self._need > 0) | (self._free() > 0))
        if self._further <= 0:
            open_groups[:] = False
        self.renewals += self._pool.open_only(open_groups)

    def _refuse_impossible(self, low: NDArray[np.int64], high: NDArray[np.int64], given: NDArray[np.int64]) -> None:
        sizes = self._pool.left + given
        faults = {
            "minimum below 0": low < 0,
            "minimum above maximum": low > high,
            "more includes than the maximum": given > high,
            "minimum above the number of candidates": low > sizes,
        }
        for fault, wrong in faults.items():
            if wrong.any():
                named = "; ".join(
                    f"{self._names[group]} (minimum {low[group]}, maximum {high[group]}, {sizes[group]} candidates, "
                    f"{given[group]} of them included)"
                    for group in np.flatnonzero(wrong)[:5]
                )
                raise ValueError(f"quotas of {int(wrong.sum())} groups cannot be met, {fault}: {named}")

    def _refuse_impossible_size(self) -> None:
        needed, further = int(self._need.sum()), self._further
        if needed > further:
            named = ", ".join(f"{self._names[group]}: {self._need[group]}" for group in np.flatnonzero(self._need)[:5])
            raise ValueError(
                f"the minima ask for {needed} picks beyond the includes, but only {further} are to be made: raise k or "
                f"lower the minima ({named})"
            )
        most = int(np.minimum(self._room, self._pool.left).clip(min=0).sum())
        if most < further:
            raise ValueError(
                f"the maxima and the numbers of candidates leave {most} picks beyond the includes, but {further} are "
                "to be made: lower k or raise the maxima"
            )
