"""The coverage-against-k curve as lines of an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 16, 16, 36
_POINTS = 400  # more could not be told apart


@dataclass(frozen=True)
class CurvePicture:
    """Where things are, in the units of the picture.

    Attributes:
        line: `x,y x,y ...`.
        end: of the line.
        bound: height of the certificate's upper bound; None without one.
        across: (x, k) ticks.
        up: (y, coverage) ticks.
        table: (k, coverage) for those who read numbers.
    """

    line: str
    end: tuple[float, float]
    bound: float | None
    across: Sequence[tuple[float, int]]
    up: Sequence[tuple[float, float]]
    table: Sequence[tuple[int, float]]


def curve_picture(prefixes: NDArray[np.float64], upper_bound: float | None) -> CurvePicture:
    """Draw the coverage by the first 1, 2, ... picks.

    Args:
        prefixes: (k,) coverage.
        upper_bound: on what any k picks can reach.
    """
    k = len(prefixes)
    top = _round_up(max(float(prefixes.max()), upper_bound or 0.0))

    def x(count: float) -> float:
        return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * count / k, 1)

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top, 1)

    shown = np.unique(np.rint(np.linspace(1, k, min(k, _POINTS))).astype(int))
    points = [(x(0), y(0)), *((x(count), y(float(prefixes[count - 1]))) for count in shown)]
    return CurvePicture(
        line=" ".join(f"{across:g},{up:g}" for across, up in points),
        end=points[-1],
        bound=None if upper_bound is None else y(min(upper_bound, top)),
        across=[(x(count), count) for count in _whole_ticks(k)],
        up=[(y(top * part / 4), top * part / 4) for part in range(5)],
        table=[(count, float(prefixes[count - 1])) for count in _telling(k)],
    )


def _round_up(value: float) -> float:
    return max(0.2, min(1.0, float(np.ceil(value * 5 - 1e-9) / 5)))


def _whole_ticks(k: int) -> list[int]:
    steps = (size * part for size in (1, 10, 100, 1000, 10_000, 100_000) for part in (1, 2, 5))
    step = next(step for step in steps if k <= 6 * step)
    return list(range(0, k + 1, step))


def _telling(k: int) -> list[int]:
    steps = [size * part for size in (1, 10, 100, 1000, 10_000) for part in (1, 2, 5)]
    return [*(count for count in steps if count < k), k]
