"""Intervals for the scores of models from random picks: what the design promises, whatever the scores look like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

# A pick and so many of the nearest picks of its group make the neighbourhood in which it is compared.
_NEAREST = 2
# Of the variance of right and wrong answers: below it, what was observed is rounding.
_ROUNDING = 1e-12
# So many further degrees of freedom in each group say that it varies as all picks together do.
_BORROWED = 1.0


@dataclass(frozen=True, eq=False)
class Intervals:
    """Estimated scores of models with their intervals; NaN for a model without a score on any pick.

    Attributes:
        estimate: (models,) groups by their shares, equal weights inside.
        low: (models,) lower ends, never below 0.
        high: (models,) upper ends, never above 1.
        standard_error: (models,) of the estimate.
        freedom: (models,) degrees of freedom of its square.
    """

    estimate: Values
    low: Values
    high: Values
    standard_error: Values
    freedom: Values


@dataclass(frozen=True, eq=False)
class _Inside:
    """How scores vary inside groups, each (groups, models).

    Attributes:
        counts: scores on picks.
        means: their means; 0 where there is none.
        variances: of single scores.
        freedom: degrees of freedom of the variances.
    """

    counts: Values
    means: Values
    variances: Values
    freedom: Values


def stratified_intervals(
    scores: Values, groups: NDArray[np.int64], sizes: Values, shares: Values, *, level: float = 0.95
) -> Intervals:
    """Intervals from simple random draws without replacement inside groups.

    The variance of a stratified mean with finite population corrections (Cochran 1977, 5.3) and its degrees of freedom
    (Satterthwaite 1946); see `_moments` for groups of few picks and `wilson` for the ends.

    Args:
        scores: (k, models) in [0, 1], NaN where missing, which is taken as drawn at random inside groups.
        groups: (k,) group number of each pick.
        sizes: (groups,) rows of the pool.
        shares: (groups,) what each group counts, summing to 1. One without a score lends its share to the others, for
            which no interval can vouch.
        level: how often intervals are to hold the true score.
    """
    return _intervals(_inside(scores, groups, len(sizes)), scores, sizes, shares, level)


def spread_intervals(
    scores: Values,
    groups: NDArray[np.int64],
    sizes: Values,
    shares: Values,
    coordinates: NDArray[np.floating],
    *,
    level: float = 0.95,
) -> Intervals:
    """Intervals from draws inside groups that are spread over a space, as those of the local pivotal method are.

    Scores vary around the means of neighbourhoods: what is common to near picks is balanced by the design (the local
    mean variance of Stevens and Olsen 2003, with the weights of Grafstrom and Schelin 2014, eq. 5).

    Args:
        scores: (k, models) in [0, 1], NaN where missing.
        groups: (k,) group number of each pick.
        sizes: (groups,) rows of the pool.
        shares: (groups,) what each group counts, summing to 1.
        coordinates: (k, d) of the picks, in which the design spread them.
        level: how often intervals are to hold the true score.
    """
    inside = _inside(scores, groups, len(sizes))
    variances, freedom = inside.variances.copy(), inside.freedom.copy()
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        if len(rows) > _NEAREST + 1:
            near = _neighbourhoods(np.asarray(coordinates[rows], np.float64))
            variances[group], freedom[group] = _around_local_means(scores[rows], near)
    return _intervals(_Inside(inside.counts, inside.means, variances, freedom), scores, sizes, shares, level)


def _inside(scores: Values, groups: NDArray[np.int64], size: int) -> _Inside:
    """Variances around the groups' means."""
    seen = ~np.isnan(scores)
    known = np.where(seen, scores, 0.0)
    member = (np.arange(size)[:, None] == groups).astype(np.float64)
    counts = member @ seen
    means = (member @ known) / np.maximum(counts, 1.0)
    squares = member @ np.where(seen, (known - means[groups]) ** 2, 0.0)
    freedom = np.maximum(counts - 1, 0.0)
    return _Inside(counts, means, squares / np.maximum(freedom, 1.0), freedom)


def _neighbourhoods(coordinates: Values) -> NDArray[np.int64]:
    """(k, neighbourhood) each pick itself and the nearest others; a tie goes to the earlier pick."""
    squares = (coordinates**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * coordinates @ coordinates.T
    np.fill_diagonal(distances, -np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, : _NEAREST + 1]


def _around_local_means(scores: Values, near: NDArray[np.int64]) -> tuple[Values, Values]:
    """(models,) variances of single scores around the means of their neighbourhoods, and degrees of freedom.

    The freedom is that of the quadratic form which the variance is in scores that do not depend on place.
    """
    seen = ~np.isnan(scores)
    known = np.where(seen, scores, 0.0)
    present = seen[near].sum(axis=1)
    use = seen & (present > 1)
    apart = known - known[near].sum(axis=1) / np.maximum(present, 1.0)
    squares = np.where(use, present / np.maximum(present - 1, 1.0) * apart**2, 0.0)
    count = use.sum(axis=0)
    off = np.eye(len(near))
    np.put_along_axis(off, near, -1 / near.shape[1], axis=1)
    np.fill_diagonal(off, 1 - 1 / near.shape[1])
    form = off.T @ off
    freedom = float(np.trace(form) ** 2 / (form**2).sum())
    return squares.sum(axis=0) / np.maximum(count, 1), freedom * count / len(near)


@dataclass(frozen=True, eq=False)
class Moments:
    """A stratified mean and how far it may be off, each (models,); NaN for a model without a value.

    Attributes:
        estimate: groups by their shares, equal weights inside.
        variance: of the estimate.
        alike: the variance of the estimate where that of single values is 1 in all groups.
        freedom: degrees of freedom of the variance (Satterthwaite 1946).
        known: whether values vary; where they do not, the variance says nothing.
    """

    estimate: Values
    variance: Values
    alike: Values
    freedom: Values
    known: NDArray[np.bool_]


def stratified_moments(values: Values, groups: NDArray[np.int64], sizes: Values, shares: Values) -> Moments:
    """Mean and variance of values on simple random draws without replacement inside groups (Cochran 1977, 5.3).

    Args:
        values: (k, models) of any scale, NaN where missing.
        groups: (k,) group number of each pick.
        sizes: (groups,) rows of the pool.
        shares: (groups,) what each group counts, summing to 1.
    """
    return _moments(_inside(values, groups, len(sizes)), values, sizes, shares)


def _moments(inside: _Inside, values: Values, sizes: Values, shares: Values) -> Moments:
    """A group of one pick shows no variance of its own: each borrows a degree of freedom from the variance of all picks
    around the estimate (strata collapsed into one), which differences between groups make too large rather than too
    small.
    """
    weights = np.where(inside.counts > 0, shares[:, None], 0.0)
    with np.errstate(invalid="ignore"):
        weights = weights / weights.sum(axis=0)
    estimate = (weights * inside.means).sum(axis=0)
    variances, freedom = _with_borrowed(inside, values, estimate)
    left = np.clip(1 - inside.counts / sizes[:, None], 0.0, 1.0)
    alike = weights**2 * left / np.maximum(inside.counts, 1.0)
    parts = alike * variances
    observed = parts.sum(axis=0)
    below, known = (parts**2 / freedom).sum(axis=0), observed > _ROUNDING * alike.sum(axis=0)
    picked = np.where(inside.counts > 0, freedom, 0.0).sum(axis=0)
    degrees = np.where(known, observed**2 / np.where(known, below, 1.0), picked)
    return Moments(estimate, observed, alike.sum(axis=0), degrees, known)


def _intervals(inside: _Inside, scores: Values, sizes: Values, shares: Values, level: float) -> Intervals:
    """Intervals of a stratified mean of scores in [0, 1].

    Where all scores are the same, or there is one only, no variance is known: it is then that of right and wrong
    answers, which is the largest that scores in [0, 1] with their mean can have.
    """
    found = _moments(inside, scores, sizes, shares)
    spread = np.maximum(found.estimate * (1 - found.estimate), 0.0)
    relative = np.where(found.known, found.variance / np.where(found.known, spread, 1.0), found.alike)
    return wilson(found.estimate, relative, found.freedom, level)


def wilson(estimate: Values, relative: Values, freedom: Values, level: float) -> Intervals:
    """Ends that are scores, too (Wilson 1927), so that they hold for strong and weak models.

    They are the scores that are t standard errors away if the standard error is that at the end, in proportion to
    x (1 - x).

    Args:
        estimate: (models,) in [0, 1].
        relative: (models,) its variance over estimate (1 - estimate).
        freedom: (models,) degrees of freedom of the variance.
        level: how often intervals are to hold the true score.
    """
    from scipy.special import stdtrit

    spread = np.maximum(estimate * (1 - estimate), 0.0)
    widening = stdtrit(freedom, (1 + level) / 2) ** 2 * relative
    centre = (estimate + widening / 2) / (1 + widening)
    half = np.sqrt(widening * spread + widening**2 / 4) / (1 + widening)
    return Intervals(estimate, centre - half, centre + half, np.sqrt(relative * spread), freedom)


def _with_borrowed(inside: _Inside, scores: Values, estimate: Values) -> tuple[Values, Values]:
    """(groups, models) variances and degrees of freedom with those that groups borrow from all picks."""
    seen = ~np.isnan(scores)
    squares = np.where(seen, (np.where(seen, scores, 0.0) - estimate) ** 2, 0.0).sum(axis=0)
    whole = squares / np.maximum(seen.sum(axis=0) - 1, 1)
    freedom = inside.freedom + _BORROWED
    return (inside.freedom * inside.variances + _BORROWED * whole) / freedom, freedom
