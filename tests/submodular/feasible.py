"""Small selection problems whose feasible sets are all known, straight from the definitions of the constraints."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from benchcore.submodular.constraints.constraint import Cardinality, Constraint
from benchcore.submodular.constraints.knapsack import Knapsack
from benchcore.submodular.constraints.quotas import Quotas
from benchcore.submodular.constraints.rounds import Rounds

KINDS = ("cardinality", "rounds", "quotas", "cardinality in a budget", "rounds in a budget", "quotas in a budget")
Sets = list[tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Problem:
    """One draw of everything that a constraint can be made of; a feasible set exists for each kind."""

    kind: str
    groups: np.ndarray
    available: np.ndarray
    include: np.ndarray
    further: int
    low: np.ndarray
    high: np.ndarray
    costs: np.ndarray
    budget: float
    announced: bool  # whether the constraint is told of the includes before they are taken

    @property
    def n(self) -> int:
        return len(self.groups)

    @property
    def has_budget(self) -> bool:
        return self.kind.endswith("budget")

    def constraint(self) -> Constraint:
        """The constraint at its start."""
        counts = np.bincount(self.groups[self.include], minlength=len(self.low)) if self.announced else None
        inner: Cardinality | Rounds | Quotas
        if self.kind.startswith("cardinality"):
            inner = Cardinality(self.available, self.further)
        elif self.kind.startswith("rounds"):
            inner = Rounds(self.groups, self.available, self.further, counts)
        else:
            inner = Quotas(self.groups, self.available, self.further, self.low, self.high, counts=counts)
        if not self.has_budget:
            return inner
        return Knapsack(inner, self.costs, self.budget, self.costs[self.include].sum() if self.announced else 0.0)

    def after_includes(self) -> Constraint:
        """The constraint when the includes have been taken."""
        constraint = self.constraint()
        for candidate in self.include:
            constraint.take(int(candidate))
        return constraint

    def fits(self, picks: tuple[int, ...]) -> bool:
        return not self.has_budget or self.costs[[*picks, *self.include]].sum() <= self.budget

    def turn(self, picks: tuple[int, ...]) -> Sets:
        """Candidates that balanced rounds allow after these picks."""
        left = [c for c in np.flatnonzero(self.available).tolist() if c not in picks and self.fits((*picks, c))]
        if len(picks) >= self.further or not left:
            return []
        counts = np.bincount(self.groups[[*picks, *self.include]], minlength=len(self.low))
        least = min(counts[self.groups[c]] for c in left)
        return [c for c in left if counts[self.groups[c]] == least]

    def reachable(self) -> Sets:
        """All sets that balanced rounds can come by."""
        found, last = {()}, {()}
        while last:
            last = {tuple(sorted((*picks, c))) for picks in last for c in self.turn(picks)}
            found |= last
        return sorted(found)

    def meets_quotas(self, picks: tuple[int, ...]) -> bool:
        counts = np.bincount(self.groups[[*picks, *self.include]], minlength=len(self.low))
        return bool((counts >= self.low).all() and (counts <= self.high).all())

    def feasible(self) -> Sets:
        """All sets of picks beyond the includes that a finished run may leave (with a budget: or that it may buy)."""
        pool = np.flatnonzero(self.available).tolist()
        size = min(self.further, len(pool))
        if self.kind.startswith("rounds"):
            sets = self.reachable()
        else:
            sizes = range(size + 1) if self.has_budget else [size]
            sets = [picks for k in sizes for picks in itertools.combinations(pool, k) if self.fits(picks)]
        if not self.has_budget:
            sets = [picks for picks in sets if len(picks) == size]
        if self.kind.startswith("quotas"):
            sets = [picks for picks in sets if self.meets_quotas(picks)]
        return sets

    def parts(self) -> Sets:
        """All sets that can become feasible ones, in rounds by picks in turn."""
        if self.kind.startswith("rounds"):
            return self.reachable()
        return sorted(
            {
                part
                for picks in self.feasible()
                for k in range(len(picks) + 1)
                for part in itertools.combinations(picks, k)
            }
        )


def problem(seed: int, kind: str, n: int = 8) -> Problem:
    """A random problem with includes, excludes, unequal groups and prices."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 4))
    groups = np.minimum(random.geometric(0.5, n) - 1, size - 1)
    order = random.permutation(n)
    include, pool = order[: random.integers(0, 3)], order[random.integers(2, 5) :]
    available = np.isin(np.arange(n), pool)
    some = random.permutation(pool)[: random.integers(1, len(pool) + 1)]
    counts = np.bincount(groups[some], minlength=size)
    given = np.bincount(groups[include], minlength=size)
    announced = bool(random.integers(0, 2))
    low = np.maximum(counts - random.integers(0, 3, size), 0) + (given if announced else 0)
    costs = random.integers(1, 6, n).astype(np.float64)
    return Problem(
        kind=kind,
        groups=groups,
        available=available,
        include=include,
        further=len(some),
        low=low,
        high=counts + given + random.integers(0, 3, size),
        costs=costs,
        budget=float(costs[include].sum() + costs[some].sum() + random.integers(0, 4)),
        announced=announced,
    )
