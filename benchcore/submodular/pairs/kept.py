"""All similarities of a small input, kept; from these all gains are kept exact with NumPy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import Similarity

MOST_PAIRS = 5_000**2
KEPT_BYTES = 4  # a pair, and once as much while they are computed

_ROWS = 256  # represented rows at a time, so that what is made of their similarities stays small


class KeptPairs:
    """The similarities, and the gains of all candidates at a coverage.

    Args:
        similarity: negative ones count as 0, since coverage starts there.
        coverage: (represented,) whole numbers; raised in place by every pick from now on.
        mass: (represented,) whole numbers.

    Attributes:
        gains: (candidates,) current gains of all candidates.
    """

    def __init__(self, similarity: Similarity, coverage: NDArray[np.float32], mass: NDArray[np.float64]) -> None:
        self._coverage, self._mass = coverage, mass
        block = similarity.block(slice(None), slice(None))
        # A row for each represented row: where it is symmetric, as it comes.
        self._similarities = block if similarity.symmetric else np.ascontiguousarray(block.T)
        ceiling = np.full(len(coverage), np.inf, np.float32)
        self.gains = self._between(np.arange(len(coverage)), coverage, ceiling)

    def add(self, pick: int) -> None:
        """Raise the coverage by a pick, and bring all gains up to date."""
        now = self._similarities[:, pick]
        risen = np.flatnonzero(now > self._coverage)
        self.gains -= self._between(risen, self._coverage[risen], now[risen])
        self._coverage[risen] = now[risen]

    def _between(
        self, rows: NDArray[np.int64], low: NDArray[np.float32], high: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """For each candidate the sum over rows of mass times the part of its similarity between low and high."""
        sums = np.zeros(self._similarities.shape[1])
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            block = self._similarities[rows[part]]
            np.clip(block, low[part, None], high[part, None], out=block)
            block -= low[part, None]
            sums += self._mass[rows[part]] @ block.astype(np.float64)
        return sums
