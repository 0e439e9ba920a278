"""k-means: the item nearest to each cluster's centre, weighted by the cluster."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.geometry.directions import directions
from benchcore.methods.geometry.voronoi import owned
from benchcore.methods.group_counts import group_counts
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued

_ITERATIONS = 25
_TOLERANCE = 1e-3
_EQUAL = 1e-5  # squared distances of directions that differ by less differ by rounding


def kmeans(problem: Problem) -> Selection:
    """Cluster with k-means++ (Arthur and Vassilvitskii 2007) and pick the item nearest to each centre.

    As many clusters as picks, in each group where the problem is balanced. A pick's own weight is its cluster's mass;
    an include takes what is nearer to it than to a centre. Large clusters come first.

    Args:
        problem: with the block `embedding`, (n, d); it is clustered by direction.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors, turns, available = directions(problem), problem.turns, problem.available
    owner, picks = np.full(problem.n, -1, np.int64), [int(item) for item in problem.include]
    lonely = []
    for turn, count in enumerate(group_counts(problem)):
        members = np.flatnonzero(turns == turn)
        free = members[available[members]]
        own = [place for place, item in enumerate(problem.include) if turns[item] == turn]
        centres = _centres(vectors[free], problem.mass[free], int(count), problem.seed)
        every = np.concatenate([vectors[problem.include[own]], centres])
        places = np.concatenate([own, len(picks) + np.arange(count)]).astype(np.int64)
        picks.extend(int(item) for item in free[_nearest_distinct(vectors[free], centres)])
        if len(every):
            owner[members] = places[_closest(vectors[members], every)]
        else:
            lonely.append(members)
    chosen = np.array(picks, np.int64)
    for members in lonely:  # groups without a pick are stood for by the nearest picks of others
        owner[members] = _closest(vectors[members], vectors[chosen])
    owner[chosen] = np.arange(len(chosen))
    weights = owned(problem, owner, len(chosen))
    further = np.argsort(-weights[len(problem.include) :], kind="stable") + len(problem.include)
    order = in_rounds(problem, chosen[further])
    place = np.empty(problem.n, np.int64)
    place[chosen] = np.arange(len(chosen))
    return unvalued(order, weights=weights[place[order]])


def _centres(vectors: NDArray[np.float32], mass: NDArray[np.float64], count: int, seed: int) -> NDArray[np.float32]:
    if count in (0, len(vectors)):
        return vectors[:count]
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    weights = mass / mass.sum() * len(mass) if (mass > 0).all() else None
    start = _far_apart(vectors, mass, count, np.random.default_rng(seed))
    clusters = KMeans(count, init=start, n_init=1, max_iter=_ITERATIONS, tol=_TOLERANCE)
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):  # threads add centres up in any order
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        centres: NDArray[np.float32] = clusters.fit(vectors, sample_weight=weights).cluster_centers_
    return centres


def _far_apart(
    vectors: NDArray[np.float32], mass: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.float32]:
    """k-means++: draw rows one by one in proportion to mass times squared distance to the rows drawn before."""
    weights = np.maximum(mass, 1e-12)
    drawn, distances = np.zeros(count, np.int64), np.full(len(vectors), 1.0)
    for number in range(count):
        sums = np.cumsum(weights * distances)
        place = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
        drawn[number] = min(place, len(vectors) - 1)
        distances = np.minimum(distances, np.maximum(1 - vectors @ vectors[drawn[number]], 0))
        distances[drawn[number]] = 0.0
    return vectors[drawn]


def _nearest_distinct(vectors: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int64]:
    """(centres,) distinct rows, each the nearest to its centre that no earlier centre has taken."""
    taken, nearest = np.zeros(len(vectors), bool), np.zeros(len(centres), np.int64)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    for number, centre in enumerate(centres):
        distances = np.where(taken, np.inf, squares - 2 * (vectors @ centre))
        nearest[number] = np.argmax(distances <= distances.min() + _EQUAL)  # two rows are equally near to their mean
        taken[nearest[number]] = True
    return nearest


def _closest(vectors: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int64]:
    squares = np.einsum("ij,ij->i", centres, centres)
    closest: NDArray[np.int64] = np.argmin(squares - 2 * (vectors @ centres.T), axis=1)
    return closest
