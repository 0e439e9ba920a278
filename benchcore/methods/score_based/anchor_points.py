"""Anchor points: medoids of the items under the correlation of source models' scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.geometry.voronoi import nearest, owned
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.clusters import nearest_to_centres, shared_among_equals
from benchcore.methods.score_based.source_scores import complete_scores
from benchcore.methods.unvalued import unvalued

_STARTS = 3
_SWEEPS = 30


def anchor_points(problem: Problem) -> Selection:
    """Pick medoids that minimize the mass-weighted mean of 1 - correlation to the nearest one (2309.08638).

    Each start takes the items nearest to the centres of k-means; then every medoid moves to the best place in its own
    cluster until none moves; the best of the starts counts. Items on which all source models score the same correlate
    with each other alone, those below one half apart from the others. The weights are the clusters' masses, shared by
    medoids that cannot be told apart.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    rows = _correlation_rows(complete_scores(problem))
    settled, costs = [], []
    for start in range(_STARTS):
        seeded = replace(problem, seed=problem.seed * _STARTS + start)
        medoids, owner = _settle(problem, rows, nearest_to_centres(seeded, rows).indices)
        settled.append((medoids, owner))
        costs.append(-float(problem.mass @ np.einsum("ij,ij->i", rows, rows[medoids[owner]])))
    medoids, owner = settled[int(np.argmin(costs))]
    masses = owned(problem, owner, len(medoids))
    return unvalued(medoids, weights=shared_among_equals(rows[medoids], problem.turns[medoids], masses))


def _settle(
    problem: Problem, rows: NDArray[np.float64], medoids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The medoids after they have moved, and the number of the nearest one to each item."""
    for _ in range(_SWEEPS):
        moved = _best_places(problem, rows, medoids, _owner(problem, rows, medoids))
        if (moved == medoids).all():
            break
        medoids = moved
    return medoids, _owner(problem, rows, medoids)


def _owner(problem: Problem, rows: NDArray[np.float64], medoids: NDArray[np.int64]) -> NDArray[np.int64]:
    single = rows.astype(np.float32)
    owner = nearest(problem, single, single[medoids], problem.turns[medoids])
    owner[medoids] = np.arange(len(medoids))
    return owner


def _best_places(
    problem: Problem, rows: NDArray[np.float64], medoids: NDArray[np.int64], owner: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(k,) the available item of each cluster, and of its medoid's group, that is most similar to the cluster."""
    sums = np.zeros((len(medoids), rows.shape[1]))
    np.add.at(sums, owner, problem.mass[:, None] * rows)
    similar = np.einsum("ij,ij->i", rows, sums[owner])
    allowed = problem.available & (problem.turns == problem.turns[medoids][owner])
    similar[medoids] += 1e-9 * (1 + np.abs(similar[medoids]))  # no move for a rounding error
    candidates = np.flatnonzero(allowed)
    best = candidates[np.lexsort((-similar[candidates], owner[candidates]))]
    first = np.unique(owner[best], return_index=True)
    moved = medoids.copy()
    moved[first[0]] = best[first[1]]
    moved[: len(problem.include)] = problem.include
    return moved


def _correlation_rows(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, models + 2) unit rows whose inner products are the correlations of items over models."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1)
    constant = lengths <= 1e-9
    low = constant & (scores.mean(axis=1) < 0.5)
    unit = np.where(constant[:, None], 0.0, centred / np.where(constant, 1.0, lengths)[:, None])
    return np.column_stack([unit, low, constant & ~low])
