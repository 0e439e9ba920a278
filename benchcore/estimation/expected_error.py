"""What error to expect of a coreset before any model is run: read off curves that were measured on suites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_NORMAL_95 = 1.959964


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """Errors that were measured, a row for each suite and budget; all errors in points.

    Attributes:
        suite: (rows,) names.
        prompts: (rows,) size of the pool that was picked from.
        k: (rows,) budget.
        mae: (rows,) mean absolute error of a model's score for the suite.
        rmse: (rows,) root mean squared error of it.
        gap_rmse: (rows,) root mean squared error of the difference between two models, on the same picks.
    """

    suite: NDArray[np.str_]
    prompts: Values
    k: Values
    mae: Values
    rmse: Values
    gap_rmse: Values


@dataclass(frozen=True)
class Spread:
    """A figure as it was on the suites: mean, least and most, in points."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Expected:
    """What to expect at some budget, in points.

    Attributes:
        k: budget.
        error: mean absolute error of a model's score.
        margin: half the width of a 95 % range of it: 1.96 times the root mean squared error.
        gap: difference between two models below which it cannot be told from none at 95 %, on the same picks.
        measured: whether k lies within the budgets that were measured; else it is carried on from the nearest.
    """

    k: int
    error: Spread
    margin: Spread
    gap: Spread
    measured: bool


def expected_error(curves: ErrorCurves, k: int, prompts: int) -> Expected:
    """Expect at a budget what was measured on suites near it.

    An error is taken as c sqrt(1 / k - 1 / n), which it is for balanced draws without replacement (Cochran 1977, eq.
    2.20); c, by suite, is interpolated in log k between budgets and kept beyond them.

    Args:
        curves: measurements.
        k: budget, at least 1.
        prompts: size n of the pool.

    Raises:
        ValueError: k is not between 1 and n.
    """
    if not 1 <= k <= prompts:
        raise ValueError(f"k is {k:,}, but must be between 1 and the number of prompts, {prompts:,}")
    now = np.sqrt(1.0 / k - 1.0 / prompts)
    then = np.sqrt(1.0 / curves.k - 1.0 / curves.prompts)

    def spread(errors: Values, factor: float) -> Spread:
        found = [
            factor * now * np.interp(np.log(k), np.log(curves.k[rows]), errors[rows] / then[rows])
            for rows in _by_suite(curves)
        ]
        return Spread(float(np.mean(found)), float(min(found)), float(max(found)))

    return Expected(
        k=k,
        error=spread(curves.mae, 1.0),
        margin=spread(curves.rmse, _NORMAL_95),
        gap=spread(curves.gap_rmse, _NORMAL_95),
        measured=bool(curves.k.min() <= k <= curves.k.max()),
    )


def _by_suite(curves: ErrorCurves) -> list[NDArray[np.int64]]:
    """Rows of each suite, by ascending budget."""
    rows = [np.flatnonzero(curves.suite == name) for name in np.unique(curves.suite)]
    return [own[np.argsort(curves.k[own], kind="stable")] for own in rows]
