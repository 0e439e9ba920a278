"""Vectors and masses as small integers, so that every similarity and every gain is exact on any machine.

A row becomes a vector of whole numbers of Euclidean norm at most 2^12, stored as float32. By Cauchy-Schwarz every
partial sum of a dot product of two such rows is a whole number of size at most 2^24, which single precision holds
exactly: the result depends on no BLAS, block, thread or row order. Masses become whole numbers that add up to at most
2^29, so that every sum of mass times similarity is a whole number of at most 2^53, exact in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

NORM = 2**12  # the largest Euclidean norm of a quantised row
UNIT = NORM**2  # the integer similarity of equal rows is at most this; similarity = integer / UNIT
TOTAL_MASS = 2**29

_MEAN_BITS = 30  # fixed-point bits of the exact mean
_MASS_MARGIN = 2**16  # what rounding shares to a grid may add, for up to 2^24 groups
_BLOCK = 512  # rows at a time, so that what is made of them stays in the processor's cache
_NEAR_CENTRE = 1e-6  # relative distance from the centre that is rounding noise of single precision


def require_directions(vectors: NDArray[np.floating], ids: Sequence[object] | NDArray[np.str_]) -> None:
    """Refuse rows that have no direction.

    Args:
        vectors: (n, d) any real numbers.
        ids: (n,) names for the error.

    Raises:
        ValueError: a row holds NaN or infinity, or is all zeros; names the ids.
    """
    largest = require_finite(vectors, ids)
    _refuse(largest == 0, "all zeros", ids)


def require_finite(vectors: NDArray[np.floating], ids: Sequence[object] | NDArray[np.str_]) -> NDArray[np.floating]:
    """Refuse rows that hold NaN or infinity.

    Args:
        vectors: (n, d) any real numbers.
        ids: (n,) names for the error.

    Returns:
        (n,) the largest absolute value of each row.

    Raises:
        ValueError: a row holds NaN or infinity; names the ids.
    """
    if vectors.ndim != 2 or vectors.shape[1] == 0 or len(ids) != len(vectors):
        raise ValueError(f"expected {len(ids)} rows of at least one number, got an array of shape {vectors.shape}")
    largest: NDArray[np.floating] = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))  # NaN and infinity propagate
    _refuse(~np.isfinite(largest), "not finite", ids)
    return largest


def _refuse(rows: NDArray[np.bool_], fault: str, ids: Sequence[object] | NDArray[np.str_]) -> None:
    if rows.any():
        named = ", ".join(str(ids[int(row)]) for row in np.flatnonzero(rows)[:5])
        raise ValueError(f"{int(rows.sum())} of {len(ids)} vectors are {fault}: {named}")


def mean_exponent(magnitude: float) -> int:
    """Power of two that brings numbers of at most `magnitude` (positive) below 1."""
    return -int(np.frexp(magnitude)[1])


def mass_sums(vectors: NDArray[np.floating], mass: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    """Add mass times vector in fixed point, exactly: parts of a pool add up to the same sums in any order.

    Args:
        vectors: (n, d) finite, with absolute values at most 2^-exponent.
        mass: (n,) whole numbers; over the whole pool at most TOTAL_MASS, so that the sums fit into 64 bits.
        exponent: of `mean_exponent` for the whole pool.
    """
    sums = np.zeros(vectors.shape[1], np.int64)
    whole = mass.astype(np.int64)
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, start + _BLOCK)
        fixed = np.rint(np.ldexp(vectors[rows].astype(np.float64), exponent + _MEAN_BITS)).astype(np.int64)
        sums += whole[rows] @ fixed
    return sums


def centre_of(sums: NDArray[np.int64], total: float, exponent: int) -> NDArray[np.float64]:
    """Turn the sums of `mass_sums` over a pool, and its total mass, into the mass-weighted mean."""
    mean: NDArray[np.float64] = np.ldexp(sums.astype(np.float64) / total, -exponent - _MEAN_BITS)
    return mean


def mass_weighted_mean(vectors: NDArray[np.floating], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of the rows by whole-number mass; the same bits whatever the order of the rows.

    Args:
        vectors: (n, d) finite and not all zeros.
        mass: (n,) whole numbers, not all zero, adding up to at most TOTAL_MASS.
    """
    exponent = mean_exponent(float(np.max(np.abs(vectors))))
    return centre_of(mass_sums(vectors, mass, exponent), float(mass.sum()), exponent)


def quantise(vectors: NDArray[np.floating], centre: NDArray[np.float64]) -> Rows:
    """Centre rows, bring them to unit length and round them to whole numbers of norm at most NORM.

    The cosine of two centred rows differs from their dot product / UNIT by about 1e-4 (one standard deviation). A row
    on the centre (as near as single precision can tell) has no direction left: all such rows share an additional last
    column of their own, so that they are similar to each other and to nothing else.

    Args:
        vectors: (n, d) finite, no row all zeros.
        centre: (d,) subtracted from every row.

    Returns:
        (n, d + 1) whole numbers.
    """
    n, d = vectors.shape
    quantised = np.zeros((n, d + 1), np.float32)
    for start in range(0, n, _BLOCK):
        rows = vectors[start : start + _BLOCK].astype(np.float64)
        centred = rows - centre
        lengths, away = _lengths(rows), _lengths(centred)
        on_centre = away <= _NEAR_CENTRE * lengths
        away[on_centre] = 1.0
        block = quantised[start : start + len(rows)]
        block[:, :d] = round_to_norm(centred / away[:, None])
        block[on_centre] = 0.0
        block[on_centre, d] = NORM
    return quantised


def quantise_lengths(
    vectors: NDArray[np.floating], centre: NDArray[np.float64], longest: float, norm: int = NORM
) -> Rows:
    """Centre rows and round them to whole numbers on one scale, which keeps their lengths.

    Args:
        vectors: (n, d) finite.
        centre: (d,) subtracted from every row.
        longest: (positive) no centred row is longer; that length becomes `norm`.
        norm: the largest norm of a row of whole numbers.

    Returns:
        (n, d) whole numbers: centred rows times norm / longest.
    """
    quantised = np.zeros(vectors.shape, np.float32)
    for start in range(0, len(vectors), _BLOCK):
        centred = vectors[start : start + _BLOCK].astype(np.float64) - centre
        quantised[start : start + len(centred)] = round_to_norm(centred / longest, norm)
    return quantised


def centred_lengths(vectors: NDArray[np.floating], centre: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) lengths of rows after centring."""
    lengths = np.zeros(len(vectors))
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, start + _BLOCK)
        lengths[rows] = _lengths(vectors[rows].astype(np.float64) - centre)
    return lengths


def round_to_norm(unit: NDArray[np.float64], norm: int = NORM) -> NDArray[np.float64]:
    """Round rows of length 1 or less times `norm` to whole numbers, a hair shorter where they would exceed `norm`.

    Rounding moves a row by at most sqrt(d) / 2, so shrinking ends at the latest there.
    """
    scale = np.full(len(unit), float(norm))
    rounded = np.rint(unit * norm)
    too_long = np.flatnonzero((rounded**2).sum(axis=1) > norm**2)
    while too_long.size:
        scale[too_long] -= 0.25
        rounded[too_long] = np.rint(unit[too_long] * scale[too_long, None])
        too_long = too_long[(rounded[too_long] ** 2).sum(axis=1) > norm**2]
    return rounded


def integer_mass(mass: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Turn mass into whole numbers that add up to at most TOTAL_MASS, by largest remainder inside each group.

    Groups of equal mass get equal totals. Equal remainders go to the smallest index.

    Args:
        mass: (n,) not negative, summing to 1.
        groups: (n,) group numbers from 0.

    Raises:
        ValueError: mass is negative, not finite or sums to nothing like 1.
    """
    if not (np.isfinite(mass).all() and (mass >= 0).all() and abs(float(mass.sum()) - 1) < 1e-6):
        raise ValueError("mass must be finite, not negative and sum to 1")
    shares = np.bincount(groups, weights=mass)
    # On a grid, since shares that are meant to be equal may differ in their last bits.
    totals = np.floor(np.rint(shares / shares.sum() * 2.0**36) * ((TOTAL_MASS - _MASS_MARGIN) / 2.0**36))
    exact = mass * (totals / np.where(shares > 0, shares, 1.0))[groups]
    whole: NDArray[np.float64] = np.floor(exact)
    left = (totals - np.bincount(groups, weights=whole)).astype(np.int64)
    order = np.lexsort((np.arange(len(mass)), whole - exact, groups))  # largest remainder first, in each group
    sizes = np.bincount(groups, minlength=len(totals))
    place = np.arange(len(mass)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole[order[place < left[groups[order]]]] += 1.0
    return whole


def _lengths(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt((rows**2).sum(axis=1))  # a row's sum depends on that row alone
    return lengths
