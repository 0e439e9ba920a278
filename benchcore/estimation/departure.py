"""Whether a model finds other items hard than models before it did: then what holds for those need not hold for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

REFERENCES = 5  # models that are needed to say what is usual
_LEAST = 0.55  # agreement of the others on average, below which they have too little in common to depart from
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


@dataclass(frozen=True, eq=False)
class Usual:
    """How models agree with each other.

    Attributes:
        agreement: (p,) of each with the mean of the others.
        errors: (p,) sampling variances.
    """

    agreement: Values
    errors: Values


def usual(others: Values, groups: NDArray[np.int64]) -> Usual | None:
    """Agreement of models with each other on some items.

    Args:
        others: (k, p), without missing ones.
        groups: (k,) group of each item.

    Returns:
        None where there are fewer than REFERENCES models that tell items apart, so that nothing is usual.
    """
    count = others.shape[1]
    if count < REFERENCES:
        return None
    total = others.sum(axis=1)
    found = [_agreement(others[:, j], (total - others[:, j]) / (count - 1), groups) for j in range(count)]
    known = [each for each in found if each is not None]
    if len(known) < REFERENCES:
        return None
    agreement, errors = (np.array(column) for column in zip(*known, strict=True))
    return Usual(agreement, errors)


def departure(scores: Values, easiness: Values, others: Usual | None, groups: NDArray[np.int64]) -> Departure | None:
    """Compare a model's pattern of scores with those of other models on the same items.

    Agreement is Somers' D (1962) of the model's scores and the others' mean, counted inside groups and brought to
    [0, 1]: it does not depend on how strong the model is. Its sampling variance is the jackknife's; models differ by
    what is left of the others' variance beyond it. The bound is one-sided, with Student's t for a further model.

    Args:
        scores: (k,) of the model, without missing ones.
        easiness: (k,) mean of the others.
        others: how they agree with each other on the same items.
        groups: (k,) group of each item.

    Returns:
        None where nothing is usual, the others have next to nothing in common, or the model answered all items alike.
    """
    from scipy.special import stdtrit

    own = None if others is None else _agreement(scores, easiness, groups)
    if others is None or own is None:
        return None
    count, middle, spread = len(others.agreement), float(others.agreement.mean()), float(others.agreement.var(ddof=1))
    if middle < _LEAST:
        return None
    between = max(0.0, spread - float(others.errors.mean()))
    reach = float(stdtrit(count - 1, 1 - _CHANCE)) * float(np.sqrt(own[1] + between + spread / count))
    return Departure(own[0], middle, middle - reach)


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
