"""Which candidates are among those nearest to a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Nearest:
    """As many candidates of each row as were asked for, the most similar ones; of equals, those of the lowest numbers.

    Attributes:
        least: (r,) how similar the last of them is.
        last: (r,) the largest number among those that are just as similar as that.
    """

    least: NDArray[np.float32]
    last: NDArray[np.int64]

    @staticmethod
    def of(block: NDArray[np.float32], count: int) -> Nearest:
        """The `count` nearest of all candidates, whose similarities to the rows are the columns of a block."""
        rows, candidates = block.shape
        if count >= candidates:
            return Nearest(np.full(rows, -np.inf, np.float32), np.full(rows, candidates - 1))
        least = np.partition(block, candidates - count, axis=1)[:, candidates - count]
        left = count - (block > least[:, None]).sum(axis=1)
        equal = block == least[:, None]
        last = np.full(rows, candidates - 1)
        tied = np.flatnonzero(equal.sum(axis=1) > left)
        last[tied] = (equal[tied].cumsum(axis=1) == left[tied, None]).argmax(axis=1)
        return Nearest(least, last)

    def at(self, rows: NDArray[np.int64]) -> Nearest:
        """That of some of the rows."""
        return Nearest(self.least[rows], self.last[rows])

    def among(self, block: NDArray[np.float32], candidates: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which candidates are among the nearest of each row; their similarities are the columns of the block."""
        nearer = block > self.least[:, None]
        nearer |= (block == self.least[:, None]) & (candidates <= self.last[:, None])
        return nearer
