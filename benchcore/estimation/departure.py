"""Whether a model finds other items hard than models before it did: then what holds for those need not hold for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

REFERENCES = 5  # models that are needed to say what is usual
_CHANCE = 0.05  # of an alarm for a model that is like the others


@dataclass(frozen=True)
class Departure:
    """How well a model's right answers follow the easiness of items for other models.

    Attributes:
        agreement: share of pairs of items of one group, the model being better on one of them, in which that one is
            the easier one for the others, too; 0.5: nothing in common.
        usual: mean of the others' agreement with each other.
        least: agreement below which a model departs.
    """

    agreement: float
    usual: float
    least: float

    @property
    def departs(self) -> bool:
        """Whether the model agrees less than models like the others would."""
        return self.agreement < self.least


def departure(scores: Values, others: Values, groups: NDArray[np.int64]) -> Departure | None:
    """Compare a model's pattern of scores with those of other models on the same items.

    Agreement is Somers' D (1962) of the model's scores and the others' mean, counted inside groups and brought to
    [0, 1]: it does not depend on how strong the model is. Its sampling variance is the jackknife's; models differ by
    what is left of the others' variance beyond it. The bound is one-sided, with Student's t for a further model.

    Args:
        scores: (k,) of the model, without missing ones.
        others: (k, p) of other models, without missing ones.
        groups: (k,) group of each item.

    Returns:
        None where there are fewer than REFERENCES others, or some answered all items alike, so that nothing is usual.
    """
    from scipy.special import stdtrit

    count = others.shape[1]
    if count < REFERENCES:
        return None
    total = others.sum(axis=1)
    own = _agreement(scores, total / count, groups)
    usual = [_agreement(others[:, j], (total - others[:, j]) / (count - 1), groups) for j in range(count)]
    known = [found for found in usual if found is not None]
    if own is None or len(known) < REFERENCES:
        return None
    values, errors = (np.array(column) for column in zip(*known, strict=True))
    between = max(0.0, float(values.var(ddof=1) - errors.mean()))
    variance = own[1] + between + float(values.var(ddof=1)) / len(known)
    reach = float(stdtrit(len(known) - 1, 1 - _CHANCE)) * np.sqrt(variance)
    return Departure(own[0], float(values.mean()), float(values.mean() - reach))


def _agreement(scores: Values, easiness: Values, groups: NDArray[np.int64]) -> tuple[float, float] | None:
    """Agreement and its jackknife variance; None where the scores tell no two items apart."""
    together, pairs = np.zeros(len(scores)), np.zeros(len(scores))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        better = np.sign(scores[rows, None] - scores[rows])
        together[rows] = (better * np.sign(easiness[rows, None] - easiness[rows])).sum(axis=1)
        pairs[rows] = np.abs(better).sum(axis=1)
    left = pairs.sum() - 2 * pairs
    if (left <= 0).any():
        return None
    without = (together.sum() - 2 * together) / left
    variance = (len(scores) - 1) / len(scores) * ((without - without.mean()) ** 2).sum()
    return float(1 + together.sum() / pairs.sum()) / 2, float(variance) / 4
