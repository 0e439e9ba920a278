"""Do the picks that were chosen mislead: their scores against those of the audit, which was drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchcore.estimation.filled import filled
from benchcore.estimation.intervals import stratified_moments
from benchcore.scoring.matrix import Scores
from benchcore.scoring.panel import SCORED
from benchcore.scoring.pattern import lent_weights
from benchcore.scoring.picked import Picked, enough


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
    """Test the core against the audit (Welch's t on stratified means).

    A pick's score is the mean over models, which is far less noisy than one model's; models with many scores missing
    are left out. The core counts as if it had been drawn: its mean may be as far off as that of a draw.

    Args:
        coreset: with an audit.
        scores: (k, models), NaN where missing.
        level: of the interval.

    Returns:
        None where there is no audit, or too little of it to say anything.
    """
    from scipy.special import stdtr, stdtrit

    kept = scores[:, np.isfinite(scores).mean(axis=0) >= SCORED] if scores.size else scores
    common = np.intersect1d(coreset.groups[coreset.audit], coreset.groups[~coreset.audit])
    if not kept.size or not common.size:
        return None
    means, inside = filled(kept).mean(axis=1), np.isin(coreset.groups, common)
    sides = []
    for rows in (inside & ~coreset.audit, inside & coreset.audit):
        groups = coreset.groups[rows]
        weights = lent_weights(coreset, groups)["suite"]
        if not enough(weights):
            return None
        shares = np.bincount(groups, weights, len(coreset.sizes)).astype(np.float64)
        sides.append((stratified_moments(means[rows][:, None], groups, coreset.sizes, shares), int(rows.sum())))
    (core, core_picks), (audit, audit_picks) = sides
    difference = float(core.estimate[0] - audit.estimate[0])
    parts = np.array([float(core.variance[0]), float(audit.variance[0])])
    if parts.sum() <= 0:
        return None
    freedom = float(parts.sum() ** 2 / (parts**2 / [float(core.freedom[0]), float(audit.freedom[0])]).sum())
    error = float(np.sqrt(parts.sum()))
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    return BiasTest(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p_value=2 * float(stdtr(freedom, -abs(difference) / error)),
        models=kept.shape[1],
        core=core_picks,
        audit=audit_picks,
        level=level,
    )
