"""Bending whole numbers into whole numbers: sharpening powers, shifts and exponentials that are the same everywhere.

A power or an exponential of a floating-point library differs in its last bits between machines, and between the
vector and the scalar instructions of one machine. A curve here is piecewise linear between whole-number knots, which
are computed in decimal arithmetic; between them all is integer arithmetic with one rounding. It differs from the
function that it stands for by less than one part in 10,000 of the largest value, mostly by far less than quantising
does (see `power_curve` and `decay_curve`).
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import TOP

_SEGMENTS = 2**12
_CHUNK = 2**15  # values bent at a time by numpy: its temporaries stay in the cache
_DIGITS = 20
_VANISHES = 17.4  # exp(-17.4) * TOP rounds to 0


class Curve:
    """A function of whole numbers, linear between knots.

    Args:
        knots: (m,) whole numbers from 0 to TOP, the values at low, low + 2^shift, low + 2 * 2^shift, ...
        shift: at most 25.
        low: where the first knot is; the value of whatever is smaller is that of the first knot, the value of whatever
            is larger than the last knot is that of the last.
    """

    def __init__(self, knots: NDArray[np.int64], shift: int, low: int = 0) -> None:
        self._knots, self._shift, self._low = knots, shift, low
        self._steps = np.append(np.diff(knots), 0)

    def bend(self, values: NDArray[np.float32], *, compiled: bool = False) -> None:
        """Replace values by the curve's at them, in place; rounds halves up.

        Args:
            values: any shape, contiguous; whole numbers of absolute value at most TOP.
            compiled: by compiled code: the same bits, faster where there are many values.
        """
        flat = values.reshape(-1)
        if compiled:
            from benchcore.submodular.similarities.curve_kernel import bend

            bend(flat, self._knots, self._steps, self._shift, self._low)
            return
        half = (1 << self._shift) >> 1
        for start in range(0, len(flat), _CHUNK):
            part = flat[start : start + _CHUNK]
            distance = np.maximum(part.astype(np.int64) - self._low, 0)
            place = np.minimum(distance >> self._shift, len(self._knots) - 1)
            distance -= place << self._shift
            part[:] = self._knots[place] + ((self._steps[place] * distance + half) >> self._shift)


def power_curve(power: float, *, shifted: bool = False) -> Curve:
    """TOP * (x / TOP)^power; negative x count as 0.

    The error is at most power * (power - 1) / 2^27 of TOP for powers of 2 and more, 2^-14 of TOP (near 0) for those
    below 2, and one whole number that rounding adds.

    Args:
        power: at least 1.
        shifted: of (TOP + x) / 2 instead of x.

    Raises:
        ValueError: the power is smaller than 1 or not finite.
    """
    if not (math.isfinite(power) and power >= 1):
        raise ValueError(f"a power must be a number of at least 1 (it sharpens), got {power}")
    segments = 1 if power == 1 else _SEGMENTS
    with localcontext(prec=_DIGITS):
        exponent = Decimal(power)
        knots = [_whole((Decimal(place) / segments) ** exponent if place else Decimal(0)) for place in range(segments)]
    span = 2 * TOP if shifted else TOP
    return Curve(np.array([*knots, TOP], np.int64), (span // segments).bit_length() - 1, -TOP if shifted else 0)


def decay_curve(rate: float) -> Curve:
    """TOP * exp(-rate * x). The error is at most 1e-5 of TOP, and one whole number.

    Args:
        rate: not negative. Above 20 it makes no difference: nothing is left at 1.
    """
    rate = min(max(rate, 1e-30), 20.0)
    end = min(_VANISHES / rate, float(TOP))
    shift = max(0, math.ceil(end / _SEGMENTS) - 1).bit_length()
    with localcontext(prec=_DIGITS):
        ratio = (-Decimal(rate) * (1 << shift)).exp()
        knots, value = [], Decimal(1)
        for _ in range(_SEGMENTS + 1):
            knots.append(_whole(value))
            value *= ratio
    return Curve(np.array(knots, np.int64), shift)


def _whole(share: Decimal) -> int:
    return int((share * TOP).to_integral_value())
