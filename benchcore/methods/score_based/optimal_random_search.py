"""The best of many random draws, judged on source models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.group_counts import group_counts
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.source_scores import complete_scores
from benchcore.methods.unvalued import unvalued

_DRAWS = 2000
_CELLS = 2**22  # random numbers or scores held at a time


def optimal_random_search(problem: Problem) -> Selection:
    """Keep that one of 2,000 balanced draws whose macro mean is nearest to the source models' scores on the pool.

    Nearest in mean absolute error over source models, groups by their mass. With few models or many draws it fits their
    noise: that is what it shows.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    scores, counts = complete_scores(problem), group_counts(problem)
    generator = np.random.default_rng(problem.seed)
    picked = (counts + problem.given) > 0
    shares = np.where(picked, np.bincount(problem.turns, problem.mass, len(counts)), 0.0)
    shares = shares / shares.sum() if shares.sum() > 0 else picked / picked.sum()
    missed = np.zeros((_DRAWS, scores.shape[1]))
    drawn = []
    for turn in np.flatnonzero(picked):
        members = np.flatnonzero(problem.turns == turn)
        mass = problem.mass[members] if problem.mass[members].sum() > 0 else np.ones(len(members))
        given = problem.include[problem.turns[problem.include] == turn]
        draws = _draws(members[problem.available[members]], int(counts[turn]), generator)
        sums = scores[given].sum(axis=0) + _sums(scores, draws)
        missed += shares[turn] * (sums / (len(given) + counts[turn]) - mass @ scores[members] / mass.sum())
        drawn.append(draws)
    best = int(np.argmin(np.abs(missed).mean(axis=1)))
    preferred = np.concatenate([draws[best] for draws in drawn])
    return unvalued(in_rounds(problem, generator.permutation(preferred)))


def _draws(members: NDArray[np.int64], count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """(draws, count) distinct members in each row."""
    if count == 0:
        return np.zeros((_DRAWS, 0), np.int64)
    found = []
    step = max(1, _CELLS // len(members))
    for start in range(0, _DRAWS, step):
        keys = generator.random((min(step, _DRAWS - start), len(members)), np.float32)
        found.append(members[np.argpartition(keys, count - 1, axis=1)[:, :count]])
    return np.concatenate(found)


def _sums(scores: NDArray[np.float64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """(draws, models) sums of the scores of each draw."""
    step = max(1, _CELLS // max(1, draws.shape[1] * scores.shape[1]))
    return np.concatenate([scores[draws[start : start + step]].sum(axis=1) for start in range(0, len(draws), step)])
