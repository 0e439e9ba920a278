"""tinyBenchmarks by correctness: clusters of items that the same source models get right."""

from __future__ import annotations

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.clusters import nearest_to_centres
from benchcore.methods.score_based.source_scores import complete_scores


def tiny_correctness(problem: Problem) -> Selection:
    """k-means on the items' scores by source models, the item nearest to each centre (2402.14992, section 3.1).

    The weights are the clusters' masses.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    return nearest_to_centres(problem, complete_scores(problem))
