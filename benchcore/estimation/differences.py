"""The difference of two models' scores on the same picks: interval, and how many more picks would settle it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.intervals import stratified_moments

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """A paired difference with its interval, all in [-1, 1].

    Attributes:
        estimate: groups by their shares, equal weights inside.
        low: lower end.
        high: upper end.
        settled_at: rows in all at which half the interval would be less than the estimate, if that and the variances
            stayed as they are and groups got rows in balanced rounds; None where no number of them would.
    """

    estimate: float
    low: float
    high: float
    settled_at: int | None

    @property
    def settled(self) -> bool:
        """Whether the interval leaves out no difference."""
        return self.low > 0 or self.high < 0


def paired_difference(
    differences: Values, groups: NDArray[np.int64], sizes: Values, shares: Values, *, level: float = 0.95
) -> Difference:
    """Stratified Student's t interval of a mean of differences, with finite population corrections.

    The variance is that of the picks with one further difference of 1 among them, since differences are rare where
    models are alike, and a few picks may show too few of them (after Agresti and Min 2005). Where all differences are
    the same, none was observed to vary: the interval is then as wide as the share of other differences can be, by the
    end of Wilson's interval (1927) for none of so many.

    Args:
        differences: (k,) of two scores in [0, 1] each.
        groups: (k,) group number of each pick.
        sizes: (groups,) rows of the pool.
        shares: (groups,) what each group counts, summing to 1; those without picks lend theirs to the others.
        level: how often the interval is to hold the true difference.
    """
    found = stratified_moments(differences[:, None], groups, sizes, shares)
    mean, alike = float(found.estimate[0]), float(found.alike[0])
    single = None
    if found.known[0]:
        single = float(found.variance[0]) / alike + 1 / len(differences)
    spread = _Spread(single, float(found.freedom[0]), level)
    half = spread.half(alike, 1.0)
    at = _settled_at(abs(mean), spread, groups, sizes, shares) if abs(mean) <= half else None
    return Difference(mean, max(-1.0, mean - half), min(1.0, mean + half), at)


@dataclass(frozen=True)
class _Spread:
    """How single differences spread: their variance (None: they do not), its degrees of freedom, the level wanted."""

    single: float | None
    freedom: float
    level: float

    def half(self, alike: float, times: float) -> float:
        """Half an interval, from the variance of the mean where single ones have 1, with so many times the picks."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.freedom * times, (1 + self.level) / 2))
        if self.single is None:
            return reach**2 * alike / (1 + reach**2 * alike)
        return reach * float(np.sqrt(self.single * alike))


def _settled_at(mean: float, spread: _Spread, groups: NDArray[np.int64], sizes: Values, shares: Values) -> int | None:
    """The least number of rows in balanced rounds; half an interval falls as rounds are added: by bisection."""
    counts = np.bincount(groups, minlength=len(sizes)).astype(np.float64)
    present = np.where(counts > 0, shares, 0.0)
    present = present / present.sum()

    def settles(rounds: int) -> bool:
        rows = np.where(counts > 0, np.minimum(np.maximum(counts, rounds), sizes), 0.0)
        alike = float((present**2 * (1 - rows / sizes) / np.maximum(rows, 1)).sum())
        return mean > spread.half(alike, float(rows.sum() / counts.sum()))

    low, high = 0, int(sizes.max())
    if mean == 0 or not settles(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return int(np.where(counts > 0, np.minimum(np.maximum(counts, high), sizes), 0.0).sum())
