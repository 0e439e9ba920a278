"""Two dimensions for all prompts: a t-SNE of some of them, the landmarks, among which all others are placed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import NORM, UNIT, Rows

LANDMARKS = 2000
GRID = 32_000  # positions are whole numbers from -GRID to GRID

_NEAREST = 5  # landmarks that a prompt is drawn to
_SOFTNESS = 0.1  # of similarity: a landmark that much less similar pulls 1/e as much
_REACH = 2.0  # spacings; landmarks farther from the nearest one than that pull a prompt into empty space
_SPREAD = 0.4  # spacings, so that prompts with one landmark do not hide each other
_CROWD = 0.01  # of the map's width; landmarks so near make one crowd
_ROOM = 0.4  # of the radius that a crowd would have if all prompts had the same room
_BLOCK = 4096

Positions = NDArray[np.int16]


def lay_out(keys: NDArray[np.str_], rows: Rows, landmarks: int = LANDMARKS) -> Positions:
    """Place prompts so that similar ones lie near each other.

    Time grows with n * landmarks; a t-SNE of 100,000 rows would take hours. The landmarks are the first by key, a
    random sample where keys are hashes, so that the map does not depend on what was picked.

    Args:
        keys: (n,) names of the rows; rows of one name are equal and come to lie on one point.
        rows: (n, d) as `quantise` makes them.
        landmarks: how many rows t-SNE places (van der Maaten and Hinton 2008; Barnes-Hut).

    Returns:
        (n, 2), the same whatever the order of the rows and the number of threads.
    """
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    distinct = rows[first]
    marks = distinct[:landmarks]
    fixed = _embedded(marks)
    positions = _placed(distinct, marks, fixed)
    return _on_grid(positions)[place]


def _embedded(marks: Rows) -> NDArray[np.float64]:
    """(m, 2) t-SNE of few rows, by one thread: sums of several would differ from run to run."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if len(marks) < 4:
        return np.arange(2.0 * len(marks)).reshape(-1, 2)[:, ::-1]
    distance = np.sqrt(np.maximum(2.0 - 2.0 * (marks @ marks.T).astype(np.float64) / UNIT, 0.0))
    np.fill_diagonal(distance, 0.0)
    with threadpool_limits(1):
        machine = TSNE(
            metric="precomputed",
            init=_main_axes(marks),
            perplexity=min(30.0, (len(marks) - 1) / 3),
            max_iter=500,
            random_state=0,
            n_jobs=1,
        )
        return np.asarray(machine.fit_transform(distance), np.float64)


def _main_axes(marks: Rows) -> NDArray[np.float32]:
    """(m, 2) the two main axes of the rows, small, each with its largest entry positive."""
    unit = marks.astype(np.float64) / NORM
    _, axes = np.linalg.eigh(np.cov(unit.T))
    axes = axes[:, :-3:-1]
    axes = axes * np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(2)])
    plane = (unit - unit.mean(axis=0)) @ axes
    return np.asarray(1e-4 * plane / max(float(plane[:, 0].std()), 1e-12), np.float32)


def _placed(rows: Rows, marks: Rows, fixed: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) rows near their most similar landmarks, and a disc of its own for each crowd of prompts nearly alike."""
    near, strength = _nearest_marks(rows, marks)
    nearest, best = near[:, 0], strength[:, :1]
    spacing, room = _spacing(fixed), _room(fixed, np.bincount(nearest, minlength=len(marks)))
    away = np.linalg.norm(fixed[near] - fixed[nearest][:, None], axis=2)
    pull = np.exp((strength - best) / _SOFTNESS) * (away <= _REACH * spacing[nearest][:, None])
    mean = (pull[:, :, None] * fixed[near]).sum(axis=1) / pull.sum(axis=1)[:, None]
    unlike = _SPREAD * np.minimum(1.0, 2.0 * (1.0 - best[:, 0])) * spacing[nearest]
    angle, radius = np.random.default_rng(0).uniform(0.0, (2 * np.pi, 1.0), (len(rows), 2)).T
    disc = np.sqrt(radius)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    placed: NDArray[np.float64] = mean + disc * np.maximum(unlike, room[nearest])[:, None]
    return placed


def _nearest_marks(rows: Rows, marks: Rows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(n, few) the landmarks most similar to each row, the most similar first, and these similarities."""
    few = min(_NEAREST, len(marks))
    near, strength = np.empty((len(rows), few), np.int64), np.empty((len(rows), few))
    columns = np.ascontiguousarray(marks.T)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        similarity = rows[block] @ columns / UNIT
        found = np.argpartition(-similarity, few - 1, axis=1)[:, :few]
        order = np.argsort(-np.take_along_axis(similarity, found, 1), axis=1, kind="stable")
        near[block] = np.take_along_axis(found, order, 1)
        strength[block] = np.take_along_axis(similarity, near[block], 1)
    return near, strength


def _spacing(fixed: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) mean distance of each landmark to its nearest eight."""
    from sklearn.neighbors import NearestNeighbors

    neighbours = min(9, len(fixed))
    apart, _ = NearestNeighbors(n_neighbors=neighbours).fit(fixed).kneighbors(fixed)
    spacing: NDArray[np.float64] = apart.sum(axis=1) / max(neighbours - 1, 1)
    return spacing


def _room(fixed: NDArray[np.float64], members: NDArray[np.int64]) -> NDArray[np.float64]:
    """(m,) radius around each landmark that its crowd of prompts shall fill."""
    from sklearn.neighbors import NearestNeighbors

    width = float(np.ptp(fixed, axis=0).max())
    crowds = (
        NearestNeighbors(radius=max(_CROWD * width, 1e-12)).fit(fixed).radius_neighbors(fixed, return_distance=False)
    )
    crowd = np.array([members[each].sum() for each in crowds], np.float64)
    room: NDArray[np.float64] = _ROOM * width / 2 * np.sqrt(crowd / members.sum())
    return room


def _on_grid(positions: NDArray[np.float64]) -> Positions:
    """Whole numbers, the longer side filling the grid."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    extent = max(float((high - low).max()), 1e-12)
    return np.asarray(np.rint((positions - (low + high) / 2) * (2 * GRID / extent)), np.int16)
