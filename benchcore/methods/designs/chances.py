"""Inclusion probabilities: proportional to a size, no more than 1, adding up to what each group gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.group_counts import group_counts
from benchcore.methods.problem import Problem
from benchcore.submodular.constraints.rounds import shares

Chances = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Design:
    """How likely each available item is to be drawn; 0 for others.

    Attributes:
        given_counts: (n,) when each group gets as many as the seed says; adds up to whole numbers in each group.
        overall: (n,) whichever groups get one more.
    """

    given_counts: Chances
    overall: Chances


def design(problem: Problem, sizes: NDArray[np.float64]) -> Design:
    """Probabilities in proportion to sizes inside each group of `problem.turns`.

    Args:
        sizes: (n,) positive.
    """
    turns, available, counts = problem.turns, problem.available, group_counts(problem)
    left = np.bincount(turns[available], minlength=len(counts))
    expected = shares(problem.given, left, problem.k - len(problem.include))
    chance_of_more = expected.extra / max(1, int(expected.waiting.sum()))
    given_counts, overall = np.zeros(problem.n), np.zeros(problem.n)
    for turn, count in enumerate(counts):
        members = np.flatnonzero(available & (turns == turn))
        given_counts[members] = proportional(sizes[members], int(count))
        overall[members] = proportional(sizes[members], int(expected.sure[turn]))
        if expected.waiting[turn] and chance_of_more > 0:
            more = proportional(sizes[members], int(expected.sure[turn]) + 1)
            overall[members] += chance_of_more * (more - overall[members])
    return Design(given_counts, overall)


def proportional(sizes: NDArray[np.float64], count: int) -> Chances:
    """Probabilities that add up to a count, proportional to sizes except for those that this would take beyond 1.

    Args:
        sizes: (m,) positive.
        count: from 0 to m.
    """
    chances = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), bool)
    if count == 0:
        return chances
    while True:
        open_ = ~certain
        if not open_.any():
            return np.ones(len(sizes))
        chances[certain] = 1.0
        chances[open_] = (count - int(certain.sum())) * (sizes[open_] / sizes[open_].sum())
        beyond = open_ & (chances >= 1.0)
        if not beyond.any():
            return chances
        certain |= beyond


def hajek_weights(problem: Problem, picks: NDArray[np.int64], chances: Chances) -> NDArray[np.float64]:
    """(k,) mass over inclusion probability, brought to each group's mass (Hajek 1971); sums to 1.

    The mass of groups without picks goes to the others in proportion to theirs.

    Args:
        chances: (k,) positive, of the picks.
    """
    turns = problem.turns
    raw = np.maximum(problem.mass[picks], 1e-12) / chances
    sums = np.bincount(turns[picks], weights=raw, minlength=len(problem.given))
    shares_ = np.bincount(turns, weights=problem.mass)
    weights: NDArray[np.float64] = raw * (shares_ / np.where(sums > 0, sums, 1.0))[turns[picks]]
    weights /= weights.sum()
    return weights
