"""k-means over what source models say of the items, and the item nearest to each centre."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.group_counts import group_counts
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued

_SWEEPS = 50


def nearest_to_centres(problem: Problem, rows: NDArray[np.float64]) -> Selection:
    """Cluster each group's items by k-means, pick the one nearest to each centre, weigh it by its cluster's mass.

    Includes are further centres, which do not move. Picks with the same row share what they have. In a balanced problem
    groups without a pick lend their mass to all.

    Args:
        problem: its rows in order of id.
        rows: (n, d) to cluster.
    """
    counts, generator = group_counts(problem), np.random.default_rng(problem.seed)
    weights = np.zeros(problem.n)
    order, sizes = [], []
    for turn, count in enumerate(counts):
        members = np.flatnonzero(problem.turns == turn)
        given = problem.include[problem.turns[problem.include] == turn]
        if count + len(given) == 0:
            continue
        mass = problem.mass[members]
        centres = _k_means(rows[members], mass if mass.sum() > 0 else np.ones(len(members)), int(count), generator)
        picks = _nearest_available(rows, centres, members[problem.available[members]])
        owner = np.argmin(_distances(rows[members], np.concatenate([centres, rows[given]])), axis=1)
        own = np.concatenate([picks, given])
        owner[np.searchsorted(members, own)] = np.arange(len(own))
        cells = np.bincount(owner, mass, count + len(given))
        weights[own] = cells
        order.append(picks)
        sizes.append(cells[:count])
    preferred = np.concatenate(order) if order else np.zeros(0, np.int64)
    largest_first = np.argsort(-np.concatenate(sizes), kind="stable") if sizes else preferred
    indices = in_rounds(problem, preferred[largest_first])
    kept = shared_among_equals(rows[indices], problem.turns[indices], weights[indices])
    return unvalued(indices, weights=kept / kept.sum() if kept.sum() > 0 else np.full(len(kept), 1 / len(kept)))


def shared_among_equals(
    rows: NDArray[np.floating], turns: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(k,) weights with those of picks of the same row and group made equal.

    With few source models many items have the same scores, and one of them would stand for all.

    Args:
        rows: (k, d) of the picks.
        turns: (k,) their groups.
        weights: (k,) to be shared.
    """
    _, owner = np.unique(np.column_stack([turns, rows]), axis=0, return_inverse=True)
    owner = owner.ravel()
    shared: NDArray[np.float64] = (np.bincount(owner, weights) / np.bincount(owner))[owner]
    return shared


def _k_means(
    rows: NDArray[np.float64], mass: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """(count, d) centres: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's sweeps; an empty cluster stays."""
    centres = _first_centres(rows, mass, count, generator)
    owner = np.full(len(rows), -1)
    for _ in range(_SWEEPS if count else 0):
        nearest = np.argmin(_distances(rows, centres), axis=1)
        if (nearest == owner).all():
            break
        owner = nearest
        total = np.bincount(owner, mass, count)
        sums = np.column_stack([np.bincount(owner, mass * column, count) for column in rows.T])
        centres = np.where(total[:, None] > 0, sums / np.maximum(total, 1e-300)[:, None], centres)
    return centres


def _first_centres(
    rows: NDArray[np.float64], mass: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Rows drawn one by one in proportion to mass times squared distance to those already drawn."""
    chosen: list[int] = []
    distance = np.ones(len(rows))
    for _ in range(count):
        worth = mass * distance
        if worth.sum() <= 0:  # fewer distinct rows than centres
            worth = mass
        upper = np.cumsum(worth)
        chosen.append(min(int(np.searchsorted(upper, generator.random() * upper[-1], "right")), len(rows) - 1))
        away = ((rows - rows[chosen[-1]]) ** 2).sum(axis=1)
        distance = away if len(chosen) == 1 else np.minimum(distance, away)
    return rows[chosen]


def _nearest_available(
    rows: NDArray[np.float64], centres: NDArray[np.float64], available: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(count,) for each centre the nearest item that no earlier centre took."""
    distances = _distances(rows[available], centres)
    taken = np.zeros(len(centres), np.int64)
    for number in range(len(centres)):
        taken[number] = np.argmin(distances[:, number])
        distances[taken[number]] = np.inf
    return available[taken]


def _distances(rows: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, k) squared distances."""
    squares: NDArray[np.float64] = (centres**2).sum(axis=1) - 2 * rows @ centres.T + (rows**2).sum(axis=1)[:, None]
    return squares
