"""Blocks of features of a pool that lies in parts, brought into the bandwidths of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.mean_kernel import bandwidth, varies

Column = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """What a part of a block, or several together, tell of the whole.

    Attributes:
        rows: how many.
        mean: (d,) of the columns.
        squares: (d,) sums of squared deviations from it.
        largest: (d,) absolute values.
    """

    rows: int
    mean: Column
    squares: Column
    largest: Column


def moments(block: NDArray[np.floating]) -> Moments:
    """The moments of (n, d) rows, at least one."""
    exact = block.astype(np.float64)
    mean = exact.mean(axis=0)
    return Moments(len(exact), mean, ((exact - mean) ** 2).sum(axis=0), np.abs(exact).max(axis=0))


def together(parts: Sequence[Moments]) -> Moments:
    """The moments of all parts, added in this order (Chan, Golub and LeVeque 1979)."""
    found = parts[0]
    for part in parts[1:]:
        rows, apart = found.rows + part.rows, part.mean - found.mean
        mean = found.mean + apart * (part.rows / rows)
        squares = found.squares + part.squares + apart**2 * (found.rows * part.rows / rows)
        found = Moments(rows, mean, squares, np.maximum(found.largest, part.largest))
    return found


@dataclass(frozen=True, eq=False)
class Scale:
    """How the rows of a block become coordinates in its bandwidth.

    Attributes:
        centre: (d,) what is subtracted.
        unit: (d,) what is divided by; infinite for columns that say nothing.
    """

    centre: Column
    unit: Column

    def applied(self, block: NDArray[np.floating]) -> NDArray[np.float32]:
        """(n, d) coordinates of rows."""
        return np.ascontiguousarray((block.astype(np.float64) - self.centre) / self.unit, np.float32)


def scale_of(whole: Moments, sample: NDArray[np.floating], standardised: bool) -> Scale:
    """The scale of a block, as `full_kernel` would have it.

    Args:
        whole: moments of all rows.
        sample: (s, d) the rows that the bandwidth is taken from: `sample_positions` of the whole.
        standardised: whether columns are brought to variance 1 first, and those that never vary left out.
    """
    spread = np.sqrt(whole.squares / whole.rows)
    unit = np.where(varies(spread, whole.largest), spread, np.inf) if standardised else np.ones(len(spread))
    return Scale(whole.mean, unit * bandwidth((sample.astype(np.float64) - whole.mean) / unit))
