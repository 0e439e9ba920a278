"""How wrong predictions are for models that were held out: of the mean, of every task, and of the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.9  # of intervals
RESAMPLES = 20  # of the models of a split


@dataclass(frozen=True, eq=False)
class Verdict:
    """Of one prediction for a batch of models; errors in points of a hundred.

    Attributes:
        mae: mean absolute error of the mean over tasks.
        kendall_tau: tau-b of the models' ranking by that mean; NaN where there is none.
        top1_regret: how far the model that is predicted to be best is behind the best.
        tasks: (tasks,) mean absolute error of each task; NaN where no score is known.
        models: (models,) absolute error of the mean of each model that counts.
    """

    mae: float
    kendall_tau: float
    top1_regret: float
    tasks: Floats
    models: Floats


def judge(predicted: Floats, truth: Floats, centre: Floats | None = None) -> Verdict:
    """Compare predictions with scores; the mean is that over the tasks on which a model has a score.

    Where scores are missing, such means are over different tasks for each model, of which some are harder: models are
    then ranked by how far they lie above the tasks' means.

    Args:
        predicted: (models, tasks); NaN for a model without a prediction, which does not count.
        truth: (models, tasks), NaN where missing.
        centre: (tasks,) means over models that were learnt from; None: over those that are judged.
    """
    known = ~np.isnan(truth) & ~np.isnan(predicted)
    wrong = np.where(known, np.abs(predicted - np.where(known, truth, 0.0)), 0.0)
    counts = known.sum(axis=0)
    tasks = np.where(counts > 0, wrong.sum(axis=0) / np.maximum(counts, 1), np.nan)
    judged = known.any(axis=1)
    if not judged.any():
        return Verdict(np.nan, np.nan, np.nan, 100 * tasks, np.zeros(0))
    predicted, truth, known = predicted[judged], truth[judged], known[judged]
    expected, actual = of_mean(predicted, known), of_mean(truth, known)
    errors = np.abs(expected - actual)
    if not known.all():
        middle = of_mean(truth.T, known.T) if centre is None else centre
        level = of_mean(np.broadcast_to(middle, known.shape), known)
        expected, actual = expected - level, actual - level
    return Verdict(
        mae=100 * float(errors.mean()),
        kendall_tau=kendall_tau(expected, actual),
        top1_regret=100 * float(actual.max() - actual[int(np.argmax(expected))]),
        tasks=100 * tasks,
        models=100 * errors,
    )


def most_complete(scores: Floats, least: int) -> NDArray[np.bool_]:
    """(models,) those with every score, or, where there are fewer, at least so many with the most.

    Args:
        scores: (models, picks), NaN where missing.
        least: number of models.
    """
    counts = (~np.isnan(scores)).sum(axis=1)
    if counts.size == 0:
        return np.zeros(0, bool)
    enough = max(1, int(np.sort(counts)[-min(least, counts.size)]))
    return np.asarray(counts >= enough)


def resampled(errors: Floats, seed: Sequence[int], times: int = RESAMPLES) -> Floats:
    """(times,) mean errors over bootstrap samples of models: how much it matters which ones happen to be held out.

    Args:
        errors: (models,).
        seed: numbers of the generator.
        times: how many samples.
    """
    if errors.size == 0:
        return np.full(times, np.nan)
    drawn = np.random.default_rng(seed).integers(0, errors.size, (times, errors.size))
    return np.asarray(errors[drawn].mean(axis=1), np.float64)


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
