"""Ratios of errors to those of the control, with intervals over sub-pools and models jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Resamples:
    """How often each sub-pool and each model counts in each bootstrap sample; the first sample is the data themselves.

    Attributes:
        pools: (samples, pools).
        models: (samples, models).
    """

    pools: Values
    models: Values


def resamples(pools: int, models: int, samples: int, generator: np.random.Generator) -> Resamples:
    """Draw sub-pools and models with replacement, independently: both are clusters of errors that go together.

    Two-way cluster bootstrap (Owen 2007, the pigeonhole bootstrap).

    Args:
        pools: how many there are.
        models: how many there are.
        samples: how many to draw; one more is returned.
        generator: draws.
    """

    def counts(size: int) -> Values:
        drawn = generator.multinomial(size, np.full(size, 1 / size), samples)
        return np.vstack([np.ones(size), drawn]).astype(np.float64)

    return Resamples(counts(pools), counts(models))


def paired(errors: Values, control: Values) -> tuple[Values, Values]:
    """Errors of the same models on the same sub-pools: NaN in either is NaN in both."""
    both = np.isfinite(errors) & np.isfinite(control)
    return np.where(both, errors, np.nan), np.where(both, control, np.nan)


def pool_means(errors: Values, drawn: Resamples) -> Values:
    """Mean error over models on each sub-pool.

    Args:
        errors: (pools, models), NaN where a model was not scored.
        drawn: bootstrap samples.

    Returns:
        (samples, pools); NaN where no model counts.
    """
    seen = np.isfinite(errors)
    with np.errstate(invalid="ignore"):
        return np.asarray((drawn.models @ np.where(seen, errors, 0.0).T) / (drawn.models @ seen.T), np.float64)


def over_pools(values: Values, drawn: Resamples) -> Values:
    """Mean over sub-pools of values by sample and sub-pool; those that are NaN do not count."""
    seen = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        total = np.sum(drawn.pools * np.where(seen, values, 0.0), axis=1) / np.sum(drawn.pools * seen, axis=1)
    return np.asarray(total, np.float64)


def ratios(errors: Values, control: Values, drawn: Resamples) -> Values:
    """Mean over sub-pools of the error divided by that of the control.

    Args:
        errors: (pools, models) absolute errors, NaN where a model was not scored.
        control: (pools, models) those of the control, means over its draws.
        drawn: bootstrap samples.

    Returns:
        (samples,) of which the first is the estimate. A control without error gives NaN.
    """
    own, other = paired(errors, control)
    below = pool_means(other, drawn)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(below > 0, pool_means(own, drawn) / below, np.nan)
    return over_pools(ratio, drawn)


def widened(samples: Values, luck: Values) -> Values:
    """Bootstrap samples with at least the spread that luck has, about the estimate.

    The bootstrap takes sub-pools as independent, which they are not where a method picks the same prompts from many:
    with scores permuted its ratios then spread more than the bootstrap knows.

    Args:
        samples: (samples,), the estimate first.
        luck: (permutations,) ratios with permuted scores; none where they were not measured.
    """
    drawn, by_luck = samples[1:][np.isfinite(samples[1:])], luck[np.isfinite(luck)]
    if drawn.size < 2 or by_luck.size < 2 or drawn.std() == 0:
        return samples
    return np.asarray(samples[0] + (samples - samples[0]) * max(1.0, float(by_luck.std() / drawn.std())), np.float64)


def interval(samples: Values, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of bootstrap samples, without the first, which is the estimate."""
    drawn = samples[1:][np.isfinite(samples[1:])]
    if drawn.size == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def p_value(samples: Values, null: float) -> float:
    """Two-sided bootstrap p-value of a null value: how rarely samples lie on the other side of it."""
    drawn = samples[1:][np.isfinite(samples[1:])]
    if drawn.size == 0 or not np.isfinite(samples[0]):
        return float("nan")
    beyond = min(int((drawn <= null).sum()), int((drawn >= null).sum()))
    return min(1.0, 2 * (beyond + 1) / (drawn.size + 1))


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979); NaN stays and does not count."""
    array = np.array(values, np.float64)
    order = np.argsort(np.where(np.isnan(array), np.inf, array), kind="stable")
    count, running = int(np.isfinite(array).sum()), 0.0
    corrected = np.full(len(array), np.nan)
    for place, position in enumerate(order[:count]):
        running = max(running, min(1.0, (count - place) * array[position]))
        corrected[position] = running
    return [float(value) for value in corrected]
