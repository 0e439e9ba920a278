"""Facility location: how similar each represented row is to its nearest pick, on quantised rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import Rows

_BLOCK_ROWS = 2048  # represented rows of one block of similarities
_BLOCK_CELLS = 2**20  # similarities of one block: 4 MB, and 8 MB in double precision


class FacilityLocation:
    """f(A) = sum_i m_i max_{j in A} max(s_ij, 0), in whole numbers (Krause and Golovin 2014, section 1).

    Memory beyond the rows is one block of similarities, never (n, n). Represented rows and candidates may differ, and
    values and gains of parts of the represented rows add up to those of all of them.

    All gains are kept current by the rows whose coverage rose: over k picks that is about 1 + 1/2 + ... + 1/k matrix
    products of candidates and rows, on clustered and on random rows alike. The first picks make nearly every
    bound stale, which leaves a queue of them (Minoux 1978) little to save there.

    Args:
        rows: (n, d) represented rows, of `quantise`.
        mass: (n,) of `integer_mass`.
        candidates: (m, d) rows to pick from; default: the represented ones.
    """

    def __init__(self, rows: Rows, mass: NDArray[np.float64], candidates: Rows | None = None) -> None:
        self.rows, self.mass = rows, mass
        self.candidates = rows if candidates is None else candidates
        self.coverage = np.zeros(len(rows), np.float32)
        self._known: NDArray[np.float64] | None = None  # gains of all candidates at the coverage _known_at
        self._known_at = np.zeros(len(rows), np.float32)

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return len(self.candidates)

    @property
    def value(self) -> float:
        """The objective at the set so far, a whole number."""
        return float(self.mass @ self.coverage.astype(np.float64))

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates alone would raise the value now, whole numbers."""
        covered = np.zeros(len(candidates))
        for chosen, part in _blocks(len(candidates), len(self.rows)):
            similarity = self.candidates[candidates[chosen]] @ self.rows[part].T
            np.maximum(similarity, self.coverage[part], out=similarity)
            covered[chosen] += similarity.astype(np.float64) @ self.mass[part]
        return covered - self.value

    def all_gains(self) -> NDArray[np.float64]:
        """The same for every candidate, from what was known before the last picks."""
        if self._known is None:
            self._known = self.gains(np.arange(self.n))
        else:
            self._known -= self._lost(np.flatnonzero(self.coverage > self._known_at))
        self._known_at[:] = self.coverage
        return self._known.copy()

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        self.cover(self.candidates[candidate])

    def cover(self, row: NDArray[np.float32]) -> None:
        """Raise the coverage by a row, which need not be a candidate."""
        np.maximum(self.coverage, self.rows @ row, out=self.coverage)

    def _lost(self, risen: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much each candidate's gain fell because these rows are better covered than it knew."""
        rows, mass, before, now = self.rows[risen], self.mass[risen], self._known_at[risen], self.coverage[risen]
        lost = np.zeros(self.n)
        for chosen, part in _blocks(self.n, len(risen)):
            similarity = self.candidates[chosen] @ rows[part].T
            np.clip(similarity, before[part], now[part], out=similarity)
            lost[chosen] += similarity.astype(np.float64) @ mass[part]
        return lost - float(mass @ before.astype(np.float64))


def _blocks(candidates: int, rows: int) -> Iterator[tuple[slice, slice]]:
    """Cut candidates x rows into blocks of a size that stays in the processor's cache."""
    width = max(1, min(_BLOCK_ROWS, rows))
    height = max(1, _BLOCK_CELLS // width)
    for start in range(0, candidates, height):
        for first in range(0, rows, width):
            yield slice(start, start + height), slice(first, first + width)
