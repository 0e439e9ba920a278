"""Graph cut on the centred, clipped cosine: picks like the pool, and unlike each other."""

from __future__ import annotations

from benchcore.methods.greedy import maximize
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.objectives.graph_cut import GraphCut
from benchcore.submodular.similarities.dot import DotSimilarity

REDUNDANCY = 0.5


def graph_cut(problem: Problem) -> Selection:
    """Pick greedily for sum_ij m_i s_ij - lambda sum_jj' s_jj' (Iyer et al. 2021, arXiv 2006.15412), lambda = 1/2.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return maximize(problem, lambda rows, mass: GraphCut(DotSimilarity(rows), mass, REDUNDANCY))
