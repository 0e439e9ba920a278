"""Tasks spread over the space of their scores: farthest first, k-medoids and principal-component leverage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_free.kmedoids import faster_pam
from benchcore.methods.task_level.facility_location import squared_distances
from benchcore.methods.task_level.source import columns
from benchcore.methods.unvalued import unvalued

Floats = NDArray[np.float64]

_COMPONENTS = 5


def farthest_first(problem: Problem) -> Selection:
    """Pick the task whose scores are farthest from all picks, again and again (Gonzalez 1985). Nested.

    The first is nearest to the mean over tasks.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = columns(problem)
    distance = squared_distances(rows)
    nearest = -((rows - problem.mass @ rows) ** 2).sum(axis=1)
    free, order = problem.available, list[int]()
    for step in range(problem.k):
        given = step < len(problem.include)
        pick = int(problem.include[step]) if given else int(np.argmax(np.where(free, nearest, -np.inf)))
        nearest = np.minimum(nearest, distance[pick]) if order else distance[pick].copy()
        free[pick] = False
        order.append(pick)
    return unvalued(np.array(order, np.int64))


def kmedoids(problem: Problem) -> Selection:
    """Minimize the mean distance of tasks' scores to the nearest pick by swaps (Schubert and Rousseeuw 2021).

    From a random start. A pick's own weight is the mass of the tasks that are nearest to it; large clusters come first.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    distance = np.sqrt(squared_distances(columns(problem)))
    candidates, include = np.flatnonzero(problem.available), problem.include
    reach = distance[candidates]
    if include.size:  # what an include covers need not be covered better by a pick
        reach = np.minimum(reach, distance[include].min(axis=0))
    start = np.random.default_rng(problem.seed).permutation(len(candidates))[: problem.k - len(include)]
    chosen = candidates[faster_pam(reach.astype(np.float32), problem.mass, start)]
    picks = np.concatenate([include, chosen]).astype(np.int64)
    weights = _cluster_masses(distance, picks, problem.mass)
    further = len(include) + np.argsort(-weights[len(include) :], kind="stable")
    order = np.concatenate([np.arange(len(include)), further]).astype(np.int64)
    return unvalued(picks[order], weights=weights[order])


def leverage(problem: Problem) -> Selection:
    """Pick the tasks that principal components lean on most: largest leverage on the first five. Nested.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = columns(problem)
    left, _, _ = np.linalg.svd(rows - rows.mean(axis=1, keepdims=True), full_matrices=False)
    scores = (left[:, :_COMPONENTS] ** 2).sum(axis=1)
    order = np.argsort(-np.where(problem.available, scores, -1.0), kind="stable")
    return unvalued(np.concatenate([problem.include, order])[: problem.k].astype(np.int64))


def _cluster_masses(distance: Floats, picks: NDArray[np.int64], mass: Floats) -> Floats:
    """(k,) mass nearest to each pick, with a little for those that have none, summing to 1."""
    owner = np.argmin(distance[picks], axis=0)
    owner[picks] = np.arange(len(picks))
    masses = np.bincount(owner, weights=mass, minlength=len(picks))
    masses = np.maximum(masses, 1e-12)
    return np.asarray(masses / masses.sum(), np.float64)
