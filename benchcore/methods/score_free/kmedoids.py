"""k-medoids: items such that every item is near one of them, weighted by what is nearest to each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.geometry.directions import directions
from benchcore.methods.geometry.voronoi import voronoi_weights
from benchcore.methods.group_counts import group_counts
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued

_LARGEST = 2000  # items of a group that are compared with each other; more are represented by a draw
_SWEEPS = 10
_LEAST = 1e-6  # mean distances that differ by less differ by rounding


def kmedoids(problem: Problem) -> Selection:
    """Minimize the mean distance to the nearest pick by the swaps of FasterPAM (Schubert and Rousseeuw 2021).

    From a random start, in each group where the problem is balanced; the distance is Euclidean between directions.
    Groups of more than 2,000 items are clustered by a draw of them (CLARA). A pick's own weight is the mass of the
    items that are nearest to it. Large clusters come first.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors, turns, available = directions(problem), problem.turns, problem.available
    generator, picks = np.random.default_rng(problem.seed), [problem.include]
    for turn, count in enumerate(group_counts(problem)):
        represented = np.flatnonzero(turns == turn)
        candidates = represented[available[represented]]
        if len(represented) > _LARGEST:
            size = min(len(candidates), max(_LARGEST, 2 * int(count)))
            represented = candidates = np.sort(generator.choice(candidates, size, replace=False))
        distances = _distances(vectors[candidates], vectors[represented])
        own = problem.include[turns[problem.include] == turn]
        if own.size:  # what an include covers need not be covered better by a pick
            distances = np.minimum(distances, _distances(vectors[own], vectors[represented]).min(axis=0))
        start = generator.permutation(len(candidates))[:count]
        picks.append(candidates[faster_pam(distances, problem.mass[represented], start)])
    chosen = np.concatenate(picks)
    weights = voronoi_weights(problem, vectors, chosen)
    further = np.argsort(-weights[len(problem.include) :], kind="stable") + len(problem.include)
    order = in_rounds(problem, chosen[further])
    place = np.empty(problem.n, np.int64)
    place[chosen] = np.arange(len(chosen))
    return unvalued(order, weights=weights[place[order]])


def faster_pam(
    distances: NDArray[np.float32], mass: NDArray[np.float64], start: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Swap medoids for other candidates as soon as that lowers sum_o m_o min_j d(j, o).

    Args:
        distances: (candidates, represented).
        mass: (represented,) not negative.
        start: (k,) distinct candidates.

    Returns:
        (k,) distinct candidates.
    """
    if len(start) in (0, len(distances)):
        return start
    if len(start) == 1:
        return np.array([int(np.argmin(distances @ mass))])
    state, since = _Medoids(distances, mass, start), 0
    for candidate in list(range(len(distances))) * _SWEEPS:
        since = 0 if state.improve(candidate) else since + 1
        if since == len(distances):
            break
    return state.medoids


class _Medoids:
    """Medoids with the nearest and the second nearest of each represented item."""

    def __init__(self, distances: NDArray[np.float32], mass: NDArray[np.float64], start: NDArray[np.int64]) -> None:
        self.medoids = start.copy()
        self._distances, self._mass = distances, mass
        self._is_medoid = np.zeros(len(distances), bool)
        self._is_medoid[start] = True
        self._least = _LEAST * float(mass.sum())
        n = distances.shape[1]
        self._near, self._second = np.zeros(n, np.int64), np.zeros(n, np.int64)  # numbers of medoids
        self._to_near, self._to_second = np.zeros(n), np.zeros(n)
        self._look(np.arange(n))

    def improve(self, candidate: int) -> bool:
        """Swap the candidate in for the medoid for which that is best, if it lowers the sum."""
        if self._is_medoid[candidate]:
            return False
        new = self._distances[candidate]
        gained = float(np.minimum(new - self._to_near, 0.0) @ self._mass)
        # With its medoid gone an item goes to the second nearest, or to the candidate if that is nearer.
        lost = (np.clip(new, self._to_near, self._to_second) - self._to_near) * self._mass
        change = gained + np.bincount(self._near, weights=lost, minlength=len(self.medoids))
        worst = int(np.argmin(change))
        if change[worst] >= -self._least:
            return False
        self._is_medoid[self.medoids[worst]], self._is_medoid[candidate] = False, True
        self.medoids[worst] = candidate
        self._look(np.flatnonzero((self._near == worst) | (self._second == worst) | (new < self._to_second)))
        return True

    def _look(self, items: NDArray[np.int64]) -> None:
        """Find the two nearest medoids of some items anew."""
        distances = self._distances[self.medoids[:, None], items]
        every = np.arange(len(items))
        self._near[items] = near = np.argmin(distances, axis=0)
        self._to_near[items] = distances[near, every]
        distances[near, every] = np.inf
        self._second[items] = second = np.argmin(distances, axis=0)
        self._to_second[items] = distances[second, every]


def _distances(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    distances: NDArray[np.float32] = np.sqrt(np.maximum(2 - 2 * (one @ other.T), 0))
    return distances
