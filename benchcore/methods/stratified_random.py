"""A random draw in balanced rounds: the control that every other method has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.constraints.rounds import shares


def stratified_random(problem: Problem) -> Selection:
    """Draw without replacement, each group (or, unbalanced, the whole pool) at equal probability inside.

    Groups that get one pick more than others are drawn too. The first j picks are those of a problem with k = j.

    Args:
        problem: no feature block is needed. Its gains and value are zero: nothing is maximized.
    """
    turns, counts = problem.turns, problem.given
    generator = np.random.default_rng(problem.seed)
    shuffled = generator.permutation(np.flatnonzero(problem.available))
    by_turn = shuffled[np.argsort(turns[shuffled], kind="stable")]
    left = np.bincount(turns[by_turn], minlength=len(counts))
    within = np.arange(len(by_turn)) - (np.cumsum(left) - left)[turns[by_turn]]
    drawn = by_turn[np.lexsort((generator.permutation(len(by_turn)), counts[turns[by_turn]] + within))]
    indices = np.concatenate([problem.include, drawn[: problem.k - len(problem.include)]]).astype(np.int64)
    chances = _chances(turns, counts, left, problem.k - len(problem.include))[indices]
    chances[: len(problem.include)] = 1.0
    return Selection(
        indices=indices,
        gains=np.zeros(len(indices)),
        value=0.0,
        certificate=None,
        roles=np.full(len(indices), "core"),
        inclusion_probabilities=chances,
    )


def _chances(
    turns: NDArray[np.int64], counts: NDArray[np.int64], left: NDArray[np.int64], k: int
) -> NDArray[np.float64]:
    """Probability of each item to be drawn: its group's expected number of picks over its free items."""
    share = shares(counts, left, k)
    expected = share.sure + np.where(share.waiting, share.extra / max(1, int(share.waiting.sum())), 0.0)
    chances: NDArray[np.float64] = (expected / np.maximum(left, 1))[turns]
    return chances
