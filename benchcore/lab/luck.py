"""How well a method that does not draw would do by luck: its picks and weights kept, scores permuted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample
from benchcore.estimation.group_weights import macro_weights
from benchcore.lab.protocol import Scores, Trial

PERMUTATIONS = 200


def permuted_errors(trial: Trial, picks: list[NDArray[np.int64]], models: NDArray[np.int64]) -> Scores:
    """Mean absolute errors with macro weights where the suite's scores are permuted inside each benchmark.

    A permutation moves whole rows, so that models stay as alike as they are; all sub-pools and methods see the same
    ones, so that the luck of sub-pools that overlap is shared as it is with the real scores.

    Args:
        trial: the sub-pool.
        picks: by budget, (k,) rows of it.
        models: those that are scored.

    Returns:
        (budgets, PERMUTATIONS).
    """
    suite = trial.suite
    scores = _filled(suite.scores[:, models], suite.groups)
    excess = np.array([_excess(trial, indices) for indices in picks])
    errors = np.empty((len(picks), PERMUTATIONS))
    for number in range(PERMUTATIONS):
        errors[:, number] = np.abs(excess @ scores[trial.permutation(number)]).mean(axis=1)
    return errors


def _excess(trial: Trial, indices: NDArray[np.int64]) -> Scores:
    """(n,) weight of each row in the estimate, less its mass in the truth."""
    excess = -trial.mass
    excess[indices] += macro_weights(Sample(indices, trial.groups, trial.mass, {}))
    return excess


def _filled(scores: Scores, groups: NDArray[np.str_]) -> Scores:
    """Scores with missing ones replaced by the model's mean in the benchmark."""
    filled = scores.copy()
    for group in np.unique(groups):
        rows = groups == group
        filled[rows] = np.where(np.isnan(scores[rows]), np.nanmean(scores[rows], axis=0), scores[rows])
    return filled
