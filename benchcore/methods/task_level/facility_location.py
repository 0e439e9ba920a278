"""Facility location on whole tasks: every task has a pick that is like it, under several likenesses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.greedy import maximize_objective
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.task_level.source import columns
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.quantise import integer_mass
from benchcore.submodular.similarities.precomputed import DenseSimilarity

Floats = NDArray[np.float64]


def facility_correlation(problem: Problem) -> Selection:
    """Facility location on the correlation of tasks over models, negative ones cut to zero.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = columns(problem)
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.where(lengths > 1e-9, centred / np.maximum(lengths, 1e-9), 0.0)
    similarity = np.maximum(unit @ unit.T, 0.0)
    np.fill_diagonal(similarity, 1.0)
    return maximize(problem, similarity)


def facility_distance(problem: Problem) -> Selection:
    """Facility location on the negative squared distance of tasks' scores, from the largest: k-medoids' objective.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    distance = squared_distances(columns(problem))
    return maximize(problem, max(float(distance.max()), 1e-12) - distance)


def facility_rbf(problem: Problem) -> Selection:
    """Facility location on an RBF kernel of tasks' scores, with the median squared distance as its width.

    A model's level cancels in the distance of two tasks, so that levels of models play no part.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    return maximize(problem, rbf(columns(problem)))


def facility_rbf_centred(problem: Problem) -> Selection:
    """The same on scores less each task's own mean: tasks are alike if they rank models alike, hard or easy.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = columns(problem)
    return maximize(problem, rbf(rows - rows.mean(axis=1, keepdims=True)))


def bento(problem: Problem) -> Selection:
    """Facility location on in-context transfer: every task has a pick whose examples help with it (2410.13804).

    Args:
        problem: with the block `transfer`, (tasks, tasks): how well each task (row) is done with examples of each
            (column). It is shifted so that the smallest entry is zero; no model's score is looked at.

    Raises:
        ValueError: the block is not square.
    """
    transfer = np.asarray(problem.features["transfer"], np.float64)
    if transfer.shape != (problem.n, problem.n):
        raise ValueError(f"the block 'transfer' is {transfer.shape}, not (tasks, tasks) of {problem.n}")
    return maximize(problem, (transfer - transfer.min()).T)


def rbf(rows: Floats) -> Floats:
    """(n, n) RBF kernel of rows, with the median squared distance of two rows as its width."""
    distance = squared_distances(rows)
    apart = distance[distance > 1e-12]
    return np.asarray(np.exp(-distance / (float(np.median(apart)) if apart.size else 1.0)), np.float64)


def squared_distances(rows: Floats) -> Floats:
    """(n, n) squared Euclidean distances, zero on the diagonal."""
    squares = (rows**2).sum(axis=1)
    distance = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0.0)
    distance = (distance + distance.T) / 2
    np.fill_diagonal(distance, 0.0)
    return np.asarray(distance, np.float64)


def maximize(problem: Problem, similarity: Floats) -> Selection:
    """Pick greedily so that the mass-weighted mean similarity of tasks to their nearest pick is largest. Nested.

    Args:
        problem: whose balance is not looked at.
        similarity: (candidates, tasks), not negative.
    """
    mass = integer_mass(problem.mass, np.zeros(problem.n, np.int64))
    objective = FacilityLocation(DenseSimilarity(similarity), mass)
    return maximize_objective(replace(problem, balanced=False), objective)
