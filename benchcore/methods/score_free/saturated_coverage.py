"""Saturated coverage on the centred, clipped cosine: enough similar picks for every item, and no more than enough."""

from __future__ import annotations

from benchcore.methods.greedy import maximize
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.objectives.saturated_coverage import SaturatedCoverage
from benchcore.submodular.similarities.dot import DotSimilarity

SATURATION = 0.1


def saturated_coverage(problem: Problem) -> Selection:
    """Pick greedily for sum_i m_i min(sum_j s_ij, a sum_j' s_ij') (Lin and Bilmes 2011, P11-1052), a = 0.1.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return maximize(problem, lambda rows, mass: SaturatedCoverage(DotSimilarity(rows), mass, SATURATION))
