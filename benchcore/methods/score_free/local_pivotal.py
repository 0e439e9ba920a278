"""The local pivotal method: a random design that spreads over the space, for those who need an interval."""

from __future__ import annotations

import numpy as np

from benchcore.methods.designs.chances import design, hajek_weights
from benchcore.methods.designs.pivotal import draw_inside_groups
from benchcore.methods.in_rounds import in_rounds
from benchcore.methods.kernel_mean.mean_kernel import full_kernel
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def local_pivotal(problem: Problem) -> Selection:
    """Draw with equal probabilities inside groups, near items seldom together (Grafstrom, Lundstrom, Schelin 2012).

    Items are near in all blocks that the problem has, each in units of its median distance. The estimate with its own
    weights (mass over inclusion probability) has no bias but that of a ratio, and none where groups are balanced.

    Args:
        problem: with the block `embedding`, (n, d); `surface` and `ngrams` where it has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    generator = np.random.default_rng(problem.seed)
    plan = design(problem, np.ones(problem.n))
    drawn = draw_inside_groups(problem, plan.given_counts, generator, full_kernel(problem).coordinates)
    picks = in_rounds(problem, drawn)
    included = np.arange(len(picks)) < len(problem.include)
    chances = np.where(included, 1.0, plan.given_counts[picks])
    return unvalued(
        picks,
        weights=hajek_weights(problem, picks, chances),
        inclusion_probabilities=np.where(included, 1.0, plan.overall[picks]),
    )
