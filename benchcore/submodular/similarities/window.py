"""Between what the coverage of represented rows counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import TOP


@dataclass(frozen=True, eq=False)
class Window:
    """Facility location with it is sum_i m_i (min(max(max_{j in A} s_ij, low_i), high_i) - low_i).

    Attributes:
        low: (n,) whole numbers from 0; the floor of a conditional gain.
        high: (n,) whole numbers, at least `low`; the caps of a query.
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]

    @property
    def caps(self) -> bool:
        """Whether some similarity may be cut off above."""
        return bool((self.high < TOP).any())

    def clip(self, coverage: NDArray[np.float32]) -> NDArray[np.float32]:
        """The part of a coverage that counts, still with `low`."""
        clipped: NDArray[np.float32] = np.minimum(np.maximum(coverage, self.low), self.high)
        return clipped

    def rows(self, chosen: NDArray[np.int64] | slice) -> Window:
        """That of some rows."""
        return Window(self.low[chosen], self.high[chosen])


def unbounded(n: int) -> Window:
    """All of the coverage of n rows counts."""
    return Window(np.zeros(n, np.float32), np.full(n, TOP, np.float32))
