"""How well a method would do by luck: its picks and weights kept, scores permuted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample
from benchcore.estimation.group_weights import macro_weights
from benchcore.lab.protocol import Scores, Trial

PERMUTATIONS = 200
_MODELS = 64  # more are much alike


def permuted_errors(trial: Trial, picks: Sequence[Sequence[NDArray[np.int64]]], models: NDArray[np.int64]) -> Scores:
    """Mean absolute errors with macro weights where the suite's scores are permuted inside each benchmark.

    A permutation moves whole rows, so that models stay as alike as they are; all sub-pools and methods see the same
    ones, so that the luck of sub-pools that overlap, and of draws that pick the same, is shared as it is with the real
    scores.

    Args:
        trial: the sub-pool.
        picks: by draw and budget, (k,) rows of it.
        models: those that are scored; some of them where there are many.

    Returns:
        (budgets, PERMUTATIONS), means over draws.
    """
    some = models[np.linspace(0, len(models) - 1, min(len(models), _MODELS)).astype(np.int64)]
    truth, known = trial.permuted_truth[:, some], trial.known[:, some]
    flat = [indices for budgets in picks for indices in budgets]
    picked = np.unique(np.concatenate(flat))
    weights = np.zeros((len(flat), len(picked)))
    for place, indices in enumerate(flat):
        own = macro_weights(Sample(indices, trial.groups, trial.mass, {}))
        weights[place, np.searchsorted(picked, indices)] = own
    errors = np.empty((len(flat), PERMUTATIONS))
    for number in range(PERMUTATIONS):
        estimates = weights @ known[trial.permutation(number)[picked]]
        errors[:, number] = np.abs(estimates - truth[number]).mean(axis=1)
    return np.asarray(errors.reshape(len(picks), -1, PERMUTATIONS).mean(axis=0), np.float64)
