"""What each smaller coreset of an order would be, and how well it would cover the pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.pool import Pool
from benchcore.distributed.pool_vectors import PoolVectors
from benchcore.methods.problem import Problem
from benchcore.progress import progress
from benchcore.submodular.quantise import UNIT, Rows, integer_mass, quantise

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


def coverage_of(orders: Orders, pool: Pool, problem: Problem, vectors: PoolVectors) -> Coverage:
    """Measure every prefix by a pass over the pool: the running maximum of similarities along the order.

    Args:
        orders: of the picks.
        pool: whose prompts are covered.
        problem: of the pool; its mass counts.
        vectors: of the pool.

    Raises:
        BenchcoreError: vectors are missing or unusable.
    """
    mass, copies = integer_mass(problem.mass, problem.group_numbers), pool.copies.astype(np.float64)
    names, place = np.unique(pool.benchmark, return_inverse=True)
    centre = vectors.centre(mass)
    ordered = [order for _, order in orders.brackets]
    picks = quantise(vectors.at(np.concatenate([orders.audit, *ordered])), centre)
    drawn, *along = np.split(picks, np.cumsum([len(orders.audit), *map(len, ordered[:-1])]))
    sums = [np.zeros((1 + len(names), len(order) + 1)) for order in ordered]
    with progress("coverage", pool.n, "prompts") as advance:
        for positions, part in vectors.read():
            for start in range(0, len(part), _BLOCK):
                rows, own = positions[start : start + _BLOCK], quantise(part[start : start + _BLOCK], centre)
                for total, further in zip(sums, along, strict=True):
                    _add(total, _running(own, drawn, further), mass[rows], copies[rows], place[rows])
                advance(len(rows))
    firsts = [0, *(most + 1 for most, _ in orders.brackets)]
    brackets = zip(sums, firsts[:-1], firsts[1:], strict=True)
    whole = np.concatenate([total[:, first:beyond] for total, first, beyond in brackets], axis=1)
    return Coverage(whole[0] / (float(mass.sum()) * UNIT), whole[1:] / UNIT / np.bincount(place, copies)[:, None])


def _running(own: Rows, drawn: Rows, picks: Rows) -> Values:
    """(n, k + 1) how each row is covered by the audit slice and the first 0, 1, ... k picks."""
    covered = np.zeros((len(own), len(picks) + 1), np.float32)  # by no pick: not at all
    covered[:, 1:] = own @ picks.T
    covered[:, 0] = (own @ drawn.T).max(axis=1, initial=0.0)
    return np.maximum.accumulate(covered, axis=1, out=covered).astype(np.float64)


def _add(sums: Values, running: Values, mass: Values, copies: Values, place: Indices) -> None:
    """Add the coverage of some rows to that of the pool, by mass, and to their benchmarks', by copies."""
    sums[0] += mass @ running  # of whole numbers: exact in any order
    for number in np.unique(place):
        mine = place == number
        sums[1 + number] += copies[mine] @ running[mine]
