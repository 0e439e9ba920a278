"""What each smaller coreset of an order would be, and how well it would cover the pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.pool import Pool
from benchcore.methods.problem import Problem
from benchcore.progress import progress
from benchcore.submodular.quantise import UNIT, integer_mass, mass_weighted_mean, quantise

Indices = NDArray[np.int64]
Values = NDArray[np.float64]

_BLOCK = 512


@dataclass(frozen=True, eq=False)
class Orders:
    """The picks of every k up to a largest one, as pool positions.

    Attributes:
        audit: (a,) the audit slice, which every coreset ends with.
        brackets: numbers of core picks, ascending, and the order whose prefixes the coresets of as many core picks are,
            or of fewer down to the bracket before.
        nested: False where the method has no such order, and a random draw of as many stands in its place.
    """

    audit: Indices
    brackets: tuple[tuple[int, Indices], ...]
    nested: bool = True

    @property
    def k_max(self) -> int:
        """The largest k."""
        return self.brackets[-1][0] + len(self.audit)

    def picks(self, k: int) -> Indices:
        """(k,) the coreset of k, the audit slice last."""
        core = k - len(self.audit)
        order = next(order for most, order in self.brackets if core <= most)
        return np.concatenate([order[:core], self.audit])


@dataclass(frozen=True, eq=False)
class Coverage:
    """How well every prefix of an order covers, in [0, 1], as manifests have it; entry j is of j core picks.

    Attributes:
        suite: (k + 1,) the objective.
        benchmarks: (B, k + 1) of each benchmark, in order of name.
    """

    suite: Values
    benchmarks: Values


def coverage_of(orders: Orders, pool: Pool, problem: Problem, vectors: NDArray[np.float32]) -> Coverage:
    """Measure every prefix by one pass over the pool: the running maximum of similarities along the order.

    Args:
        orders: of the picks.
        pool: whose prompts are covered.
        problem: of the pool; its mass counts.
        vectors: (n, d) of the pool, each with a direction.
    """
    mass = integer_mass(problem.mass, problem.group_numbers)
    centre, last = mass_weighted_mean(vectors, mass), 0
    parts = []
    for most, order in orders.brackets:
        found = _running(order, orders.audit, pool, mass=mass, vectors=vectors, centre=centre)
        parts.append(found[:, last : most + 1])
        last = most + 1
    sums = np.concatenate(parts, axis=1)
    prompts = np.bincount(np.unique(pool.benchmark, return_inverse=True)[1], weights=pool.copies)
    return Coverage(sums[0] / (float(mass.sum()) * UNIT), sums[1:] / UNIT / prompts[:, None])


def _running(
    order: Indices, audit: Indices, pool: Pool, *, mass: Values, vectors: NDArray[np.float32], centre: Values
) -> Values:
    """(1 + B, k + 1) sums of coverage over the pool by mass, and over each benchmark by copies; whole numbers."""
    names, place = np.unique(pool.benchmark, return_inverse=True)
    sums = np.zeros((1 + len(names), len(order) + 1))
    picks, drawn = quantise(vectors[order], centre), quantise(vectors[audit], centre)
    with progress("coverage", pool.n, "prompts") as advance:
        for number in range(len(names)):
            members = np.flatnonzero(place == number)
            for start in range(0, len(members), _BLOCK):
                rows = members[start : start + _BLOCK]
                own = quantise(vectors[rows], centre)
                covered = np.zeros((len(rows), len(picks) + 1), np.float32)  # by no pick: not at all
                covered[:, 1:] = own @ picks.T
                covered[:, 0] = (own @ drawn.T).max(axis=1, initial=0.0)
                running = np.maximum.accumulate(covered, axis=1, out=covered).astype(np.float64)
                sums[0] += mass[rows] @ running
                sums[1 + number] += pool.copies[rows].astype(np.float64) @ running
                advance(len(rows))
    return sums
