"""Which rows may be picked, and how many: from what users say to a constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.methods.arguments import LARGEST, SMALLEST, whole
from benchcore.methods.columns import text
from benchcore.methods.pool import Indices, Pool, require_group
from benchcore.methods.problem import Problem, require_feasible
from benchcore.submodular.constraints.constraint import Cardinality, Constraint
from benchcore.submodular.constraints.knapsack import Counting, Knapsack
from benchcore.submodular.constraints.quotas import Quotas
from benchcore.submodular.constraints.rounds import Rounds

Bounds = Mapping[Any, tuple[int | None, int | None]]


@dataclass(frozen=True, eq=False)
class Limits:
    """What a selection must keep to.

    Attributes:
        pool: the rows.
        k: how many are picked at most, includes among them.
        include: positions that come first, in this order.
        exclude: positions that are never picked.
        balanced: rounds over the groups, where no quotas are given.
        quotas: least and most picks of a group, by its name; groups that are not named are free.
        costs: (n,) price of each row, or None.
        budget: largest sum of prices, where there are any.
    """

    pool: Pool
    k: int
    include: Indices
    exclude: Indices
    balanced: bool = True
    quotas: Bounds | None = None
    costs: NDArray[np.float64] | None = None
    budget: float | None = None

    @property
    def available(self) -> NDArray[np.bool_]:
        """(n,) what may be picked beyond the includes."""
        available = np.ones(self.pool.n, bool)
        available[self.include] = available[self.exclude] = False
        return available

    def problem(self, seed: int = 0) -> Problem:
        """The same as a problem for a method that needs no vectors."""
        return Problem(
            ids=self.pool.ids,
            groups=self.pool.groups,
            mass=self.pool.mass,
            features={},
            k=self.k,
            balanced=self.balanced,
            include=self.include,
            exclude=self.exclude,
            seed=seed,
        )

    def constraint(self) -> Callable[[], Constraint]:
        """Make constraints at their start, one a call.

        Raises:
            UsageError: none can be met; says which and why.
        """
        low, high = bounds_by_group(self.pool, self.quotas or {})
        counts = np.bincount(self.pool.numbers[self.include], minlength=len(self.pool.names)).astype(np.int64)
        available, further = self.available, self.k - len(self.include)
        names = [str(name) for name in self.pool.names]

        def inner() -> Counting:
            if self.quotas is not None:
                return Quotas(self.pool.numbers, available, further, low, high, counts=counts, names=names)
            if self.balanced and len(names) > 1:
                return Rounds(self.pool.numbers, available, further, counts)
            return Cardinality(available, further)

        def make() -> Constraint:
            if self.costs is None or self.budget is None:
                return inner()
            picks = further if further < int(available.sum()) else None
            return Knapsack(inner(), self.costs, self.budget, float(self.costs[self.include].sum()), picks)

        try:
            make()
        except ValueError as error:
            raise UsageError(str(error), where="quotas" if self.budget is None else "budget") from error
        return make


def require_limits(limits: Limits) -> None:
    """Refuse a number of picks that the rows or the includes do not allow, and prices that are none.

    Raises:
        UsageError: with the ids or the figures.
    """
    pool = limits.pool
    require_feasible(limits.problem(), least=0)
    if (limits.costs is None) != (limits.budget is None):
        given, missing = ("costs", "budget") if limits.budget is None else ("budget", "costs")
        raise UsageError(f"{given} without {missing}", where=given, mend=f"Give {missing} too.")
    if limits.costs is not None:
        wrong = ~((limits.costs >= SMALLEST) & (limits.costs <= LARGEST))
        if wrong.any():
            named = ", ".join(f"{pool.ids[row]} ({limits.costs[row]:g})" for row in np.flatnonzero(wrong)[:5])
            extreme = ((limits.costs > 0) & np.isfinite(limits.costs) & wrong).any()
            bounds = f" from {SMALLEST:g} to {LARGEST:g}" if extreme else ""
            raise UsageError(f"{int(wrong.sum())} costs are not positive numbers{bounds}: {named}", where="costs")


def bounds_by_group(pool: Pool, quotas: Bounds) -> tuple[Indices, Indices]:
    """(groups,) least and most picks of each group.

    Raises:
        UsageError: a group is unknown, or its quota is no pair of whole numbers.
    """
    if not isinstance(quotas, Mapping):
        raise UsageError(f"must be {{group: (low, high)}}, got a {type(quotas).__name__}", where="quotas")
    names = [str(name) for name in pool.names]
    low, high = np.zeros(len(names), np.int64), np.full(len(names), pool.n, np.int64)
    for group, bounds in quotas.items():
        require_group(group, names, "quotas")
        place = names.index(text(group))
        if isinstance(bounds, str | bytes | Mapping) or not hasattr(bounds, "__len__") or len(bounds) != 2:
            raise UsageError(f"the quota of '{text(group)}' is {bounds!r}, not (low, high)", where="quotas")
        for side, bound in zip((low, high), bounds, strict=True):
            if bound is not None:
                found = whole(bound, f"quotas of '{text(group)}'")
                side[place] = min(max(found, -1), pool.n + 1)  # beyond these nothing changes
    return low, high
