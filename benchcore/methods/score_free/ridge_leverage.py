"""Ridge leverage scores: items in directions that few others share are drawn more often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.designs.chances import design, hajek_weights
from benchcore.methods.designs.pivotal import draw_inside_groups
from benchcore.methods.geometry.directions import directions
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def ridge_leverage(problem: Problem) -> Selection:
    """Draw in proportion to x_i' (X'X + lambda I)^-1 x_i, lambda = |X - X_k|_F^2 / k (Cohen, Musco and Musco 2017).

    Its own weights are mass over inclusion probability. Inside groups where the problem is balanced.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    generator = np.random.default_rng(problem.seed)
    plan = design(problem, leverage(directions(problem), problem.k))
    picks = in_rounds(problem, draw_inside_groups(problem, plan.given_counts, generator))
    included = np.arange(len(picks)) < len(problem.include)
    chances = np.where(included, 1.0, plan.given_counts[picks])
    return unvalued(
        picks,
        weights=hajek_weights(problem, picks, chances),
        inclusion_probabilities=np.where(included, 1.0, plan.overall[picks]),
    )


def leverage(vectors: NDArray[np.float32], k: int) -> NDArray[np.float64]:
    """(n,) positive ridge leverage scores of rows, for an approximation of rank k."""
    rows = vectors.astype(np.float64)
    values, axes = np.linalg.eigh(rows.T @ rows)
    values = np.maximum(values, 0.0)
    tail = values[: max(len(values) - k, 0)].sum() / k
    ridge = max(float(tail), 1e-6 * float(values.sum()) / len(values))
    scores: NDArray[np.float64] = ((rows @ axes) ** 2 / (values + ridge)).sum(axis=1)
    return scores
