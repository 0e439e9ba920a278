"""Items whose scores, taken together, best predict a model's score on the pool."""

from __future__ import annotations

import numpy as np

from benchcore.methods.kernel_mean.herding import rounds_of
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.score_based.source_scores import complete_scores

_NOISE = 0.5  # of the mean variance of an item's scores between models: what says nothing of the others


def ridge_forward(problem: Problem) -> Selection:
    """Pick greedily so that a ridge regression from the picks' scores to the pool's leaves the least variance.

    Forward selection by ridge R2 over source models: with items' covariance C over models and a penalty on the diagonal
    the gain of an item is cov(target, item | picks)^2 / var(item | picks), as a share of the target's variance. Nested.
    Its picks ask for a regression learnt on source models, not for a weighted mean.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    scores = complete_scores(problem)
    deviations = (scores - scores.mean(axis=1, keepdims=True)) / np.sqrt(scores.shape[1])
    target = problem.mass @ deviations
    total = float(target @ target)
    variance, covariance = (deviations**2).sum(axis=1), deviations @ target
    noise = _NOISE * float(variance.mean()) + 1e-12
    unexplained = np.eye(scores.shape[1])  # covariance of what the picks leave open, in the space of the models
    rounds = rounds_of(problem)
    indices, gains = np.zeros(problem.k, np.int64), np.zeros(problem.k)
    for step in range(problem.k):
        worth = covariance**2 / (variance + noise)
        if step < len(problem.include):
            pick = int(problem.include[step])
        else:
            pick = int(np.argmax(np.where(rounds.allowed(), worth, -1.0)))
        rounds.take(pick)
        indices[step], gains[step] = pick, worth[pick] / total if total > 0 else 0.0
        direction = unexplained @ deviations[pick] / np.sqrt(variance[pick] + noise)
        shared = deviations @ direction
        covariance = covariance - shared * float(direction @ target)
        variance = np.maximum(variance - shared**2, 0.0)
        unexplained -= np.outer(direction, direction)
    return Selection(
        indices=indices,
        gains=gains,
        value=float(gains.sum()),
        certificate=None,
        roles=np.full(problem.k, "core"),
    )
