"""Picks from some candidates of a pool that is too large for all its pairs, held against the mean of the whole pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.mean_kernel import MeanKernel, PartKernel, alike, halves, mean_of_blocks
from benchcore.methods.kernel_mean.part import among
from benchcore.methods.problem import Indices, Problem, Selection
from benchcore.methods.stratified_random import stratified_random
from benchcore.submodular.pairs.threads import Threads

_BLOCK = 512  # a block of the kernel stays in the processor's cache
_MOST_PICKED = 1 / 4  # of the candidates: of more, there would be little to choose

By = Callable[[Problem, MeanKernel], Selection]  # a method, with the kernel given


@dataclass(frozen=True, eq=False)
class Rows:
    """Prompts of a pool, or candidates among them, as the kernel sees them.

    Attributes:
        blocks: (n, d_b) features in the bandwidths of the pool.
        groups: (n,) group numbers.
    """

    blocks: Sequence[NDArray[np.float32]]
    groups: NDArray[np.int32]


def part_of_mean(candidates: Rows, rows: Rows, mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) what some rows of the pool give to the mean of each candidate: sum_j m_j K(i, j).

    Blocks have fixed shapes, each is one thread's, and they are added in order, in double precision: the same last bits
    for any number of threads.

    Args:
        candidates: m of them.
        rows: of the pool.
        mass: (n,) of the rows; over the pool it sums to 1.
    """
    mean, single = np.zeros(len(candidates.groups)), mass.astype(np.float32)
    left, right = [halves(block)[0] for block in rows.blocks], [halves(block)[1] for block in candidates.blocks]

    def strip(start: int) -> NDArray[np.float32]:
        own, part = slice(start, start + _BLOCK), np.empty(len(mean), np.float32)
        mine = [half[own] for half in left]
        for first in range(0, len(mean), _BLOCK):
            theirs = slice(first, first + _BLOCK)
            kernel = mean_of_blocks(mine, [half[theirs] for half in right])
            part[theirs] = single[own] @ alike(kernel, rows.groups[own], candidates.groups[theirs])
        return part

    for part in Threads().each(strip, range(0, len(single), _BLOCK)):
        mean += part
    return mean


def drawn_candidates(problem: Problem, count: int) -> Indices:
    """(m,) positions, ascending: the includes, and a seeded draw in balanced rounds of as many as may be picked.

    They do not depend on k.
    """
    room = problem.n - len(problem.exclude)
    wanted = min(max(count, len(problem.include)), room)
    return np.sort(stratified_random(replace(problem, k=wanted)).indices)


def most_picks(problem: Problem, count: int) -> int:
    """How many can be picked from `drawn_candidates`: a quarter, or all of a pool that has no more prompts."""
    room = problem.n - len(problem.exclude)
    return room if count >= room else int(_MOST_PICKED * count)


def pick_from(positions: Indices, method: By, problem: Problem, kernel: PartKernel) -> Selection:
    """Pick `problem.k` of some candidates.

    Args:
        positions: of the candidates in the pool, ascending; the includes are among them.
        method: picks by a kernel.
        problem: of the whole pool.
        kernel: of the candidates.

    Returns:
        Positions in the whole pool.
    """
    found = method(among(problem, positions), kernel)
    return replace(found, indices=positions[found.indices])
