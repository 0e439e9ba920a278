"""Concave functions of one number, by name: how much each rises from c to c + x.

c and x are whole numbers that stand for multiples of 1 / one, so c + x is exact. Each rise is written as a chain of
additions, products, quotients and square roots that falls as c grows, link by link. Rounding to nearest keeps
the order of any two numbers, so what the machine computes falls too, to the last bit: returns diminish exactly, and no
allowance has to be made for rounding. Differences g(c + x) - g(c) would lose that, and most of their digits. Since IEEE
754 defines each of these operations to the last bit, arrays and compiled loops give the same.

The functions take and return an array or one number. The loops below them are for the compiler (see `feature_threads`);
they stand here because its cache looks for changes only in the file of what it compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LOG_2 = 0.6931471805599453
_ATANH = tuple(1.0 / (2 * power + 1) for power in range(16, -1, -1))  # atanh(z) = z (1 + z^2 / 3 + z^4 / 5 + ...)


def sqrt_rise(c: Any, x: Any, one: Any) -> Any:
    """Of sqrt, times sqrt(one): x / (sqrt(c + x) + sqrt(c)), which is 0 for x = 0."""
    return x / np.maximum(np.sqrt(c + x) + np.sqrt(c), 1.0)


def log_rise(c: Any, x: Any, one: Any) -> Any:
    """Of log(1 + c): log(a / b) with b = 1 + c and a = b + x, within four units in the last place.

    b is doubled e times, until a / b is in [1, 2); then log(a / b) = e log 2 + 2 atanh((a - b) / (a + b)), which is
    less than (e + 1) log 2, also where rounding would have it otherwise.
    """
    b = one + c
    a = b + x
    e = c * 0.0
    for doublings in (32.0, 16.0, 8.0, 4.0, 2.0, 1.0):
        fits = 1.0 * (b * 2.0**doublings <= a)
        e = e + fits * doublings
        b = b * (1.0 + fits * (2.0**doublings - 1.0))
    z = (a - b) / (a + b)
    series = z * 0.0
    for coefficient in _ATANH:
        series = series * (z * z) + coefficient
    return np.minimum(e * _LOG_2 + 2.0 * z * series, (e + 1.0) * _LOG_2)


def ratio_rise(c: Any, x: Any, one: Any) -> Any:
    """Of c / (1 + c): x / ((1 + c) (1 + c + x))."""
    return (one * x) / ((one + c) * (one + c + x))


def min_rise(c: Any, x: Any, one: Any) -> Any:
    """Of min(c, 1), times one: a whole number."""
    return np.minimum(x, np.maximum(one - c, 0.0))


@dataclass(frozen=True)
class Concave:
    """A concave function g with g(0) = 0.

    Attributes:
        rise: (g((c + x) / one) - g(c / one)) * unit(one).
        code: its number in `rise_by_code`.
        bend: where it bends, in terms of x: 1, or 0 where all scales are alike.
        unit: what the rise is multiplied by.
    """

    rise: Callable[[Any, Any, Any], Any]
    code: int
    bend: float
    unit: Callable[[float], float]


CONCAVE = {
    "sqrt": Concave(sqrt_rise, 0, 0.0, np.sqrt),
    "log": Concave(log_rise, 1, 1.0, lambda one: 1.0),
    "ratio": Concave(ratio_rise, 2, 1.0, lambda one: 1.0),
    "min": Concave(min_rise, 3, 1.0, lambda one: one),
}


def rise_by_code(code: int, c: float, x: float, one: float) -> Any:
    """The rise of one of them, for compiled loops."""
    if code == 0:
        return sqrt_rise(c, x, one)
    if code == 1:
        return log_rise(c, x, one)
    if code == 2:
        return ratio_rise(c, x, one)
    return min_rise(c, x, one)


def sparse_gains(
    grid: tuple[int, float],
    rows: NDArray[np.int64],
    matrix: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sums of weight times rise over the entries of rows, in order; matrix is (indptr, indices, data) of CSR."""
    (code, one), (starts, features, amounts) = grid, matrix
    gains = np.zeros(len(rows))
    for i in range(len(rows)):
        for entry in range(starts[rows[i]], starts[rows[i] + 1]):
            feature, x = features[entry], np.rint(np.float64(amounts[entry]) * one)
            gains[i] += weights[feature] * rise_by_code(code, sums[feature], x, one)
    return gains


def dense_gains(
    grid: tuple[int, float],
    rows: NDArray[np.float64],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sums of weight times rise over the features of rows, in order."""
    code, one = grid
    gains = np.zeros(len(rows))
    for i in range(len(rows)):
        for feature in range(len(sums)):
            x = np.rint(rows[i, feature] * one)
            gains[i] += weights[feature] * rise_by_code(code, sums[feature], x, one)
    return gains
