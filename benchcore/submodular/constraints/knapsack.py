"""A budget: prices of candidates beside a constraint on their numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint

_ROUNDING = 1e-12  # share of the budget by which sums of prices may be wrong; whole prices below 10^12 stay exact
_PRICES = (1.0, 0.5, 0.25)  # shares of the critical gain per cost that are tried as the price of the budget


class Counting(Constraint, Protocol):
    """A constraint on the number of picks, beside which a budget can be put."""

    def pool(self) -> NDArray[np.bool_]:
        """(n,) the candidates that may be picked now or later. Not to be written into."""
        ...

    def drop(self, candidates: NDArray[np.int64]) -> None:
        """Take candidates out for good, as if they had never been available."""
        ...

    def minima(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """(n,) groups, and (number of groups,) how many picks each still needs; None where no group needs any."""
        ...

    def best_partial_sum(self, gains: NDArray[np.float64], complete: bool) -> float:
        """At least the largest sum of gains over feasible sets and, unless `complete`, over parts of such sets."""
        ...


class Knapsack:
    """Costs within a budget, beside a constraint on the number of picks.

    A candidate is allowed while its cost still fits and, where groups have minima, while the cheapest way to meet what
    is left of them does. Candidates that fit no longer are no candidates any more: balanced rounds do not wait for a
    group that has only such. Quotas keep their minima, their maxima and their number of picks as a maximum.
    Prefixes are not nested across budgets.

    Args:
        inner: cardinality, rounds or quotas, at its start; changed by this.
        costs: (n,) positive price of each candidate.
        budget: largest sum of costs.
        spent: what has been spent beforehand, includes among it: an include that is taken later is part of it.
            Default: nothing, and includes cost when they are taken.
        picks: how many picks `inner` allows beyond the includes, where that may bind before the budget does.

    Attributes:
        costs: (n,) by what gains are compared: the price or, where the number binds too, the share of both limits that
            a pick uses up, price / budget + 1 / picks.

    Raises:
        ValueError: a cost is not positive and finite, nothing fits, or the minima cost too much.
    """

    def __init__(
        self,
        inner: Counting,
        costs: NDArray[np.float64],
        budget: float,
        spent: float = 0.0,
        picks: int | None = None,
    ) -> None:
        _require_prices(costs)
        if len(costs) != len(inner.pool()):
            raise ValueError(f"expected a cost for each of {len(inner.pool())} candidates, got {len(costs)}")
        if not np.isfinite(budget) or not np.isfinite(spent) or spent < 0:
            raise ValueError(f"the budget and what is spent must be finite and not negative, got {budget} and {spent}")
        self._costs: NDArray[np.float64] = costs.astype(np.float64)
        self._inner = inner
        self._budget = float(budget)
        self._spent, self._untaken = float(spent), float(spent)
        self._candidates = inner.pool().copy()
        left = max(self._budget - self._spent, 0.0)
        self.costs = self._costs if not picks or left == 0 else self._costs / left + 1 / picks
        self._shelves = _Shelves(inner, self._costs)
        self._current = False  # whether what no longer fits has been taken out
        self._refuse_overspent()
        if not spent:
            self._refuse_empty()

    @property
    def renewals(self) -> int:
        """How often the allowed candidates may have become more."""
        self._shut()
        return self._inner.renewals

    def allowed(self) -> NDArray[np.bool_]:
        """(n,) the candidates that fit into what is left of the budget."""
        self._shut()
        return self._inner.allowed()

    def take(self, candidate: int) -> None:
        """Record a pick, or an include.

        Raises:
            ValueError: this include costs more than is left beside the minima.
        """
        self._inner.take(candidate)
        cost = float(self._costs[candidate])
        self._current = False
        if self._candidates[candidate]:
            self._spent += cost
            return
        known = min(cost, self._untaken)
        self._untaken -= known
        self._spent += cost - known
        self._refuse_overspent()

    def best_sum(self, gains: NDArray[np.float64]) -> float:
        """At least the largest sum of gains over all feasible sets, by a relaxation (see `_bounds`)."""
        return float(self._bounds(gains, np.array([self._left()]), complete=True)[0])

    def best_sums(self, gains: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same over the sets no dearer than each prefix that are parts of feasible ones."""
        return self._bounds(gains, np.cumsum(self._costs[order]) + self._budget * _ROUNDING, complete=False)

    def _left(self) -> float:
        return self._budget * (1 + _ROUNDING) - self._spent

    def _shut(self) -> None:
        """Take out what no longer fits. Limits never rise again, so that this is for good."""
        if not self._current:
            self._current = True
            dear = self._shelves.beyond(self._left())
            if dear.size:
                self._inner.drop(dear)

    def _bounds(self, gains: NDArray[np.float64], budgets: NDArray[np.float64], complete: bool) -> NDArray[np.float64]:
        """Bound the sum of gains within each of these budgets (Dantzig 1957; Lagrange).

        The fractional knapsack knows no numbers of picks. For any price p of a unit of budget, p times the budget plus
        the best sum of gains less p times costs under the inner constraint is a bound too; a few prices are tried.
        """
        self._shut()
        pool = self._inner.pool()
        bounds, critical = _fractional(gains[pool], self._costs[pool], budgets)
        for price in np.unique([0.0, *(share * rate for share in _PRICES for rate in critical)]):
            partial = self._inner.best_partial_sum(gains - price * self._costs, complete)
            bounds = np.minimum(bounds, price * budgets + partial)
        raised: NDArray[np.float64] = bounds + np.abs(bounds) * _ROUNDING
        return raised

    def _refuse_overspent(self) -> None:
        left, needed = self._left(), self._shelves.cheapest_completion()
        if left < 0:
            raise ValueError(f"the includes cost {self._spent:g}, more than the budget of {self._budget:g}")
        if needed > left:
            raise ValueError(
                f"the cheapest way to meet the minima costs {needed:g}, but only {left:g} of the budget of "
                f"{self._budget:g} is left: raise the budget or lower the minima"
            )

    def _refuse_empty(self) -> None:
        costs = self._costs[self._candidates]
        if costs.size and costs.min() > self._left():
            cheapest = f"the cheapest candidate costs {costs.min():g}"
            raise ValueError(f"nothing fits into a budget of {self._budget:g}: {cheapest}; raise it")


class _Shelves:
    """Candidates by group, cheapest first: what still fits, and what the minima cost at least."""

    def __init__(self, inner: Counting, costs: NDArray[np.float64]) -> None:
        self._inner, self._costs = inner, costs
        minima = inner.minima()
        groups, needs = (np.zeros(len(costs), np.int64), np.zeros(1, np.int64)) if minima is None else minima
        pool = np.flatnonzero(inner.pool())
        self._order = pool[np.lexsort((costs[pool], groups[pool]))]
        self._sorted = costs[self._order]
        sizes = np.bincount(groups[pool], minlength=len(needs))
        self._ends = np.cumsum(sizes)  # of each group, the end of those that still fit
        self._starts = self._ends - sizes
        self._needs = np.zeros(len(needs), np.int64)
        self._least = np.zeros(len(needs))  # of each group, what its needed picks cost at least
        self._dearest = np.zeros(len(needs))  # and the dearest of these

    def cheapest_completion(self) -> float:
        """What the picks that are still needed cost at least."""
        minima = self._inner.minima()
        if minima is None:
            return 0.0
        _, needs = minima
        available = self._inner.pool()
        for group in np.flatnonzero(needs != self._needs):
            shelf = self._order[self._starts[group] : self._ends[group]]
            cheapest = self._costs[shelf[available[shelf]][: needs[group]]]
            self._least[group] = cheapest.sum()
            self._dearest[group] = cheapest.max(initial=0.0)
        self._needs = needs.copy()
        return float(self._least.sum())

    def beyond(self, left: float) -> NDArray[np.int64]:
        """Candidates, not named before, that leave too little for the needs of the groups if they are picked.

        A candidate may cost what the needs of others leave over and, where its own group needs picks, as much as the
        dearest of those that it would replace.
        """
        limits = max(left - self.cheapest_completion(), 0.0) + self._dearest
        filled = np.flatnonzero(self._ends > self._starts)
        shut = filled[self._sorted[self._ends[filled] - 1] > limits[filled]]
        gone = [np.zeros(0, np.int64)]
        for group in shut:
            start, end = int(self._starts[group]), int(self._ends[group])
            kept = start + int(np.searchsorted(self._sorted[start:end], limits[group], side="right"))
            gone.append(self._order[kept:end])
            self._ends[group] = kept
        return np.concatenate(gone)


def _fractional(
    gains: NDArray[np.float64], costs: NDArray[np.float64], budgets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The fractional knapsack's value within each budget, and the gain per cost where some of them are used up."""
    worth = np.flatnonzero(gains > 0)
    rates = gains[worth] / costs[worth]
    best = worth[np.argsort(-rates, kind="stable")]
    spent = np.concatenate([[0.0], np.cumsum(costs[best])])
    values: NDArray[np.float64] = np.interp(budgets, spent, np.concatenate([[0.0], np.cumsum(gains[best])]))
    if not budgets.size or not best.size:
        return values, np.zeros(0)
    some = budgets[np.unique([len(budgets) // 4, len(budgets) // 2, len(budgets) - 1])]
    last = best[np.minimum(np.searchsorted(spent[1:], some), len(best) - 1)]
    return values, gains[last] / costs[last]


def _require_prices(costs: NDArray[np.float64]) -> None:
    wrong = np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))
    if wrong.size:
        named = ", ".join(f"{index} ({costs[index]:g})" for index in wrong[:5])
        raise ValueError(f"{wrong.size} of {len(costs)} costs are not positive and finite, at indices {named}")
