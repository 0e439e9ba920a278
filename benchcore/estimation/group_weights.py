"""Weights that look at groups alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample

Weights = NDArray[np.float64]


def plain_weights(sample: Sample) -> Weights:
    """(k,) the same for every pick."""
    return np.full(len(sample.indices), 1 / len(sample.indices))


def macro_weights(sample: Sample) -> Weights:
    """(k,) the same inside a group, groups by their mass; groups without a pick lend theirs to the others."""
    return spread_in_groups(sample, np.ones(len(sample.indices)))


def own_weights(sample: Sample) -> Weights:
    """(k,) those that the method gave its picks.

    Raises:
        ValueError: it gave none.
    """
    if sample.own is None:
        raise ValueError("the method has no weights of its own: choose another estimator for it")
    return sample.own


def group_shares(sample: Sample) -> Weights:
    """(groups,) mass of each group that has a pick, 0 for the others, scaled to sum to 1; equal where all weigh 0."""
    size = int(sample.groups.max()) + 1
    present = np.bincount(sample.groups[sample.indices], minlength=size) > 0
    shares = np.where(present, np.bincount(sample.groups, sample.mass, size), 0.0)
    if shares.sum() <= 0:
        shares = present.astype(np.float64)
    scaled: Weights = shares / shares.sum()
    return scaled


def spread_in_groups(sample: Sample, weights: Weights) -> Weights:
    """Scale weights so that each group's sum is its share; a group whose weights are all zero gets equal ones.

    Args:
        sample: the picks.
        weights: (k,), not negative.
    """
    groups = sample.groups[sample.indices]
    shares = group_shares(sample)
    sums = np.bincount(groups, weights, len(shares))
    filled = np.where(sums[groups] > 0, weights, 1.0)
    scaled: Weights = filled * (shares / np.maximum(np.bincount(groups, filled, len(shares)), 1e-300))[groups]
    total: Weights = scaled / scaled.sum()
    return total
