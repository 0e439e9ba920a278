"""How wrong predictions are for models that were held out: of the mean, of every task, and of the ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.9  # of intervals


@dataclass(frozen=True, eq=False)
class Verdict:
    """Of one prediction for a batch of models; errors in points of a hundred.

    Attributes:
        mae: mean absolute error of the mean over tasks.
        kendall_tau: tau-b of the models' ranking by that mean; NaN where there is none.
        top1_regret: how far the model that is predicted to be best is behind the best.
        tasks: (tasks,) mean absolute error of each task; NaN where no score is known.
    """

    mae: float
    kendall_tau: float
    top1_regret: float
    tasks: Floats


def judge(predicted: Floats, truth: Floats) -> Verdict:
    """Compare predictions with scores; the mean is that over the tasks on which a model has a score.

    Args:
        predicted: (models, tasks); NaN for a model without a prediction, which does not count.
        truth: (models, tasks), NaN where missing.
    """
    known = ~np.isnan(truth) & ~np.isnan(predicted)
    wrong = np.where(known, np.abs(predicted - np.where(known, truth, 0.0)), 0.0)
    counts = known.sum(axis=0)
    tasks = np.where(counts > 0, wrong.sum(axis=0) / np.maximum(counts, 1), np.nan)
    expected, actual = of_mean(predicted, known), of_mean(truth, known)
    judged = known.any(axis=1)
    if not judged.any():
        return Verdict(np.nan, np.nan, np.nan, 100 * tasks)
    expected, actual = expected[judged], actual[judged]
    return Verdict(
        mae=100 * float(np.abs(expected - actual).mean()),
        kendall_tau=kendall_tau(expected, actual),
        top1_regret=100 * float(actual.max() - actual[int(np.argmax(expected))]),
        tasks=100 * tasks,
    )


def of_mean(scores: Floats, known: NDArray[np.bool_]) -> Floats:
    """(models,) means over the known cells; zero where there is none."""
    total: Floats = np.where(known, scores, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return total


def kendall_tau(one: Floats, other: Floats) -> float:
    """Kendall's tau-b (1945); NaN where either is constant."""
    first, second = (np.sign(values[:, None] - values) for values in (one, other))
    scale = np.sqrt(float((first**2).sum()) * float((second**2).sum()))
    return float((first * second).sum() / scale) if scale > 0 else float("nan")


def known_mean(values: Floats) -> float:
    """Mean of what is not NaN; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def spread(values: Floats) -> tuple[float, float]:
    """The interval in which 90 % of the values lie that are not NaN."""
    known = values[~np.isnan(values)]
    if known.size == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
