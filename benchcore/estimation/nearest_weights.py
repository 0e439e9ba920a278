"""Weights of picks that stand for what is nearest to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample
from benchcore.estimation.group_weights import spread_in_groups

Weights = NDArray[np.float64]
BLOCK = 8192


def directions(sample: Sample) -> NDArray[np.float32]:
    """(n, d) unit vectors of the embedding after its mass-weighted mean is taken off; a row equal to it is zero.

    Raises:
        ValueError: the sample has no embedding.
    """
    if "embedding" not in sample.features:
        raise ValueError("this estimator needs the feature block 'embedding'")
    vectors = np.asarray(sample.features["embedding"], np.float32)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    centred = vectors - (sample.mass @ vectors).astype(np.float32)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.where(lengths > 1e-6, centred / np.maximum(lengths, 1e-6), 0).astype(np.float32)
    return unit


def voronoi_weights(sample: Sample) -> Weights:
    """(k,) mass of the rows whose nearest pick, by centred cosine, it is; a tie goes to the earlier pick.

    One-nearest-neighbour imputation: exact if every row scores as its nearest pick does. A pick is its own nearest.
    """
    return _nearest(sample, np.zeros(len(sample.groups), np.int64))


def voronoi_weights_in_groups(sample: Sample) -> Weights:
    """(k,) the same with the nearest pick of the row's own group; groups without a pick lend their mass."""
    return spread_in_groups(sample, _nearest(sample, sample.groups))


def raked_weights(sample: Sample) -> Weights:
    """(k,) Voronoi weights scaled in each group to the group's mass (raking to one margin, so in one step)."""
    return spread_in_groups(sample, voronoi_weights(sample))


def _nearest(sample: Sample, cells: NDArray[np.int64]) -> Weights:
    """Mass of the rows nearest to each pick among the picks with the same cell number."""
    rows, weights = directions(sample), np.zeros(len(sample.indices))
    picked = np.full(len(rows), -1)
    picked[sample.indices] = np.arange(len(sample.indices))
    for cell in np.unique(cells[sample.indices]):
        members = np.flatnonzero(cells == cell)
        centres = np.flatnonzero(cells[sample.indices] == cell)
        for start in range(0, len(members), BLOCK):
            block = members[start : start + BLOCK]
            nearest = centres[np.argmax(rows[block] @ rows[sample.indices[centres]].T, axis=1)]
            owner = np.where(picked[block] >= 0, picked[block], nearest)
            weights += np.bincount(owner, sample.mass[block], len(weights))
    return weights
