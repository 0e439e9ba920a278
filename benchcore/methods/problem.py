"""What every selection method takes and gives: a frozen Problem, a frozen Selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """A pool to pick from.

    Attributes:
        ids: (n,) distinct strings; ties between equal gains go to the smallest id.
        groups: (n,) group names (benchmarks, subjects).
        mass: (n,) float64, not negative, sums to 1.
        features: blocks by name, each with n rows: `embedding` (n, d) float32 vectors, `surface` (n, s) float64 and
            `ngrams` (n, t) float32 features of the text, `scores` (n, models) float64 in [0, 1] of source models, NaN
            where missing.
        k: how many to pick.
        balanced: True for balanced rounds over `groups`, False for plain cardinality.
        costs: (n,) float64 positive, or None where every item costs the same.
        include: positions that must be picked; they come first, in the order given.
        exclude: positions that must not be picked; they are still represented.
        seed: for methods that draw.
    """

    ids: NDArray[np.str_]
    groups: NDArray[np.str_]
    mass: NDArray[np.float64]
    features: Mapping[str, NDArray[Any]]
    k: int
    balanced: bool = True
    costs: NDArray[np.float64] | None = None
    include: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    exclude: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    seed: int = 0

    @property
    def n(self) -> int:
        """Size of the pool."""
        return len(self.ids)

    @property
    def turns(self) -> Indices:
        """(n,) number of the group whose turn each item waits for; all zero for plain cardinality."""
        return self.group_numbers if self.balanced else np.zeros(self.n, np.int64)

    @property
    def group_numbers(self) -> Indices:
        """(n,) groups as numbers from 0, in order of name."""
        return np.unique(self.groups, return_inverse=True)[1].astype(np.int64)

    @property
    def available(self) -> NDArray[np.bool_]:
        """(n,) whether an item is neither included nor excluded, and so is the method's to pick."""
        available = np.ones(self.n, bool)
        available[self.include] = available[self.exclude] = False
        return available

    @property
    def given(self) -> Indices:
        """(turns,) how many includes each group has."""
        turns = self.turns
        return np.bincount(turns[self.include], minlength=int(turns.max()) + 1).astype(np.int64)


@dataclass(frozen=True)
class Certificate:
    """How far from optimal a selection can be at most.

    Attributes:
        upper_bound: no feasible set of the same size has a larger objective value.
        ratio: value / upper_bound, in [0, 1].
        kind: `exact`, or `sampled` for an upper confidence bound (see `distributed/certificate.py`).
    """

    upper_bound: float
    ratio: float
    kind: str


@dataclass(frozen=True, eq=False)
class Selection:
    """What a method picked.

    Attributes:
        indices: (k,) int64 positions in the problem, in the order of picking.
        gains: (k,) float64 increase of the objective with each pick.
        value: the objective at the end.
        certificate: an upper bound on the optimum, where the method has one.
        roles: (k,) `core` or `audit`.
        inclusion_probabilities: (k,) float64 where the design is random, else None.
        weights: (k,) float64 that sum to 1, where the method has weights of its own for the whole (those of clusters,
            say), else None.
    """

    indices: Indices
    gains: NDArray[np.float64]
    value: float
    certificate: Certificate | None
    roles: NDArray[np.str_]
    inclusion_probabilities: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None


def require_feasible(problem: Problem, where: str = "", *, least: int = 1) -> None:
    """Refuse what no method can do.

    Args:
        problem: to be solved.
        where: prefix of the names of the settings, for the error.
        least: the smallest k that is no mistake.

    Raises:
        UsageError: k does not fit the pool or the includes, or an item is both included and excluded.
    """
    both = np.intersect1d(problem.include, problem.exclude)
    if both.size:
        named = ", ".join(str(identity) for identity in problem.ids[both][:5])
        raise UsageError(f"ids are both included and excluded: {named}", where=f"{where}include")
    free = problem.n - len(problem.exclude)
    if not least <= problem.k <= free:
        raise UsageError(
            f"cannot pick {problem.k:,} of {problem.n:,} distinct items ({len(problem.exclude):,} excluded)",
            where=f"{where}k",
            mend=f"Choose k from {least} to {free:,}." if free else "Exclude fewer.",
        )
    if len(problem.include) > problem.k:
        raise UsageError(f"{len(problem.include)} ids are included, more than k = {problem.k}", where=f"{where}include")


class Method(Protocol):
    """A selection method: a function from a problem to a selection."""

    def __call__(self, problem: Problem) -> Selection:
        """Pick `problem.k` items."""
        ...
