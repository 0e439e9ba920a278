"""The compiled form of `Curve.bend`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.compilation import compiled


@compiled()
def bend(values: NDArray[np.float32], knots: NDArray[np.int64], steps: NDArray[np.int64], shift: int, low: int) -> None:
    """Replace values by the curve's, in place."""
    half, last = (1 << shift) >> 1, len(knots) - 1
    for index in range(len(values)):
        distance = max(int(values[index]) - low, 0)
        place = min(distance >> shift, last)
        values[index] = knots[place] + ((steps[place] * (distance - (place << shift)) + half) >> shift)
