"""Do the picks that were chosen mislead: their scores against those of the audit, which was drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.filled import filled
from benchcore.scoring.matrix import Scores
from benchcore.scoring.panel import SCORED
from benchcore.scoring.pattern import lent_weights
from benchcore.scoring.picked import Picked, enough

# Variance of a difference below which its picks are alike but for rounding.
_ROUNDING = 1e-18


@dataclass(frozen=True)
class BiasTest:
    """The core's mean score less the audit's, over the benchmarks that both have picks of, pooled over models.

    Attributes:
        difference: in [-1, 1].
        low: lower end of its interval.
        high: upper end.
        p_value: how likely a difference so far from none is if the core were drawn like the audit.
        models: how many there are.
        core: picks that are compared.
        audit: picks that they are compared with.
        level: of the interval.
    """

    difference: float
    low: float
    high: float
    p_value: float
    models: int
    core: int
    audit: int
    level: float

    @property
    def biased(self) -> bool:
        """Whether the interval leaves out no difference."""
        return self.low > 0 or self.high < 0


def bias_test(coreset: Picked, scores: Scores, level: float) -> BiasTest | None:
    """Test the core against the audit (a stratified t test).

    A pick's score is the mean over models, which is far less noisy than one model's; models with many scores missing
    are left out. The core counts as if it had been drawn beside the audit, so that any of a benchmark's picks could as
    well have been the audit's: then a difference of means varies by the variance of all its picks times 1 / core +
    1 / audit, without a finite population correction (two draws from one benchmark take prompts from each other).

    Args:
        coreset: with an audit.
        scores: (k, models), NaN where missing.
        level: of the interval.

    Returns:
        None where there is no audit, or too little of it to say anything.
    """
    kept = scores[:, np.isfinite(scores).mean(axis=0) >= SCORED] if scores.size else scores
    common = np.intersect1d(coreset.groups[coreset.audit], coreset.groups[~coreset.audit])
    rows = np.isin(coreset.groups, common)
    groups, audit = coreset.groups[rows], coreset.audit[rows]
    weights = [lent_weights(coreset, groups[side]).get("suite", np.zeros(0)) for side in (~audit, audit)]
    if not kept.size or not all(map(enough, weights)):
        return None
    shares = np.bincount(groups[audit], weights[1], len(coreset.sizes)).astype(np.float64)[common]
    places = np.searchsorted(common, groups)
    found = _difference(filled(kept).mean(axis=1)[rows], places, audit, shares, level)
    if found is None:
        return None
    return BiasTest(*found, models=kept.shape[1], core=int((~audit).sum()), audit=int(audit.sum()), level=level)


def _difference(
    means: NDArray[np.float64],
    groups: NDArray[np.int64],
    audit: NDArray[np.bool_],
    shares: NDArray[np.float64],
    level: float,
) -> tuple[float, float, float, float] | None:
    """Difference, ends of its interval, p-value; None where no benchmark's picks differ."""
    from scipy.special import stdtr, stdtrit

    counts = np.array([np.bincount(groups[side]) for side in (~audit, audit)])
    sums = np.array([np.bincount(groups[side], means[side]) for side in (~audit, audit)])
    difference = float(shares @ (sums[0] / counts[0] - sums[1] / counts[1]))
    freedom = counts.sum(axis=0) - 1
    around = means - (sums.sum(axis=0) / counts.sum(axis=0))[groups]
    parts = shares**2 * np.bincount(groups, around**2) / freedom * (1 / counts).sum(axis=0)
    variance = float(parts.sum())
    if variance <= _ROUNDING:
        return None
    error, degrees = variance**0.5, variance**2 / float((parts**2 / freedom).sum())
    reach = float(stdtrit(degrees, (1 + level) / 2)) * error
    return difference, difference - reach, difference + reach, 2 * float(stdtr(degrees, -abs(difference) / error))
