"""Other targets than the macro score: every prompt the same, and each benchmark by itself."""

from __future__ import annotations

import numpy as np

from benchcore.lab.protocol import Scores


def micro_errors(estimate: Scores, truth: Scores, prompt_shares: Scores) -> Scores:
    """(models,) estimate less truth of the mean over prompts.

    The picks weigh the same inside a benchmark, and benchmarks by their prompts; one without a score on a pick lends
    its weight to the others.

    Args:
        estimate: (benchmarks, models) mean scores on the picks, NaN where there is none.
        truth: (benchmarks, models) true ones; NaN where a model has none.
        prompt_shares: (benchmarks,) shares of the prompts.
    """
    return _mean(estimate, prompt_shares) - _mean(truth, prompt_shares)


def benchmark_errors(estimate: Scores, truth: Scores) -> Scores:
    """(models,) mean over benchmarks of the absolute error of each one's own mean score.

    A benchmark without a score on a pick is taken to be as the mean of the others is.

    Args:
        estimate: (benchmarks, models) mean scores on the picks, NaN where there is none.
        truth: (benchmarks, models) true ones; a benchmark without one does not count.
    """
    equal = np.ones(len(estimate))
    complete = np.where(np.isnan(estimate), _mean(estimate, equal), estimate)
    return _mean(np.abs(complete - truth), equal)


def _mean(values: Scores, weights: Scores) -> Scores:
    """(models,) weighted mean over benchmarks of what is not NaN."""
    seen = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray((weights @ np.where(seen, values, 0.0)) / (weights @ seen), np.float64)
