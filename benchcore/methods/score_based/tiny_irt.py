"""tinyBenchmarks by item response theory: clusters of items that are as hard and as telling."""

from __future__ import annotations

from benchcore.estimation.item_response import fit_item_response
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.clusters import nearest_to_centres
from benchcore.methods.score_based.source_scores import source_scores


def tiny_irt(problem: Problem) -> Selection:
    """k-means on the items' slope and intercept, the item nearest to each centre (2402.14992, section 3.2).

    One dimension of ability, where the paper takes several if validation says so. The weights are the clusters' masses.

    Args:
        problem: with the block `scores`, in [0, 1].

    Raises:
        ValueError: there is no score.
    """
    return nearest_to_centres(problem, fit_item_response(source_scores(problem)).parameters)
