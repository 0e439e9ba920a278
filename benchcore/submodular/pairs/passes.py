"""Exact gains of facility location by blocks of similarities, with nothing of their size kept."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.pairs.tiles import blocks
from benchcore.submodular.similarities.similarity import Similarity, Where

_COMPILED_PAIRS = 5_000**2  # fewer never wait for a compiler


def is_large(similarity: Similarity) -> bool:
    """Whether there are so many pairs that compiled loops are worth while."""
    return similarity.candidates * similarity.represented >= _COMPILED_PAIRS


class Passes:
    """Measures gains at a coverage.

    Args:
        similarity: negative ones count as 0, since coverage starts there.
        mass: (represented,) whole numbers.
    """

    def __init__(self, similarity: Similarity, mass: NDArray[np.float64]) -> None:
        self._similarity, self._mass = similarity, mass
        self._compiled = is_large(similarity)
        self._known: NDArray[np.float64] | None = None  # gains of all candidates at the coverage _known_at
        self._known_at = np.zeros(0, np.float32)

    @cached_property
    def threads(self) -> Threads:
        """The threads that compiled loops work on."""
        return Threads()

    def gains(self, candidates: NDArray[np.int64], coverage: NDArray[np.float32]) -> NDArray[np.float64]:
        """Gains of some candidates."""
        return self._gains(candidates, slice(None), coverage)[0]

    def all_gains(self, coverage: NDArray[np.float32]) -> NDArray[np.float64]:
        """Gains of all candidates, from those that were known before some rows' coverage rose.

        Over k picks these rows are about 1 + 1/2 + ... + 1/k times all.
        """
        everything = np.arange(self._similarity.candidates)
        if self._known is None:
            self._known = self.gains(everything, coverage)
        else:
            risen = np.flatnonzero(coverage > self._known_at)
            before, now = self._gains(everything, risen, self._known_at[risen], coverage[risen])
            self._known += now - before
        self._known_at = coverage.copy()
        return self._known.copy()

    def highest(self) -> NDArray[np.float32]:
        """(represented,) the largest similarity of any candidate to each row, at least 0."""
        highest = np.zeros(self._similarity.represented, np.float32)
        for chosen, rows in blocks(self._similarity.candidates, self._similarity.represented):
            block = self._similarity.block(chosen, rows)
            np.maximum(highest[rows], block.max(axis=0), out=highest[rows])
        return highest

    def _gains(
        self, candidates: NDArray[np.int64], rows: Where, *coverages: NDArray[np.float32]
    ) -> list[NDArray[np.float64]]:
        """Gains over some rows only, at each of several coverages of these rows."""
        mass = self._mass[rows]

        def measure(part: tuple[slice, slice]) -> tuple[slice, list[NDArray[np.float64]]]:
            chosen, columns = part
            block = self._similarity.block(candidates[chosen], columns if isinstance(rows, slice) else rows[columns])
            return chosen, [self._block_gains(block, coverage[columns], mass[columns]) for coverage in coverages]

        parts = list(blocks(len(candidates), len(mass)))
        totals = [np.zeros(len(candidates)) for _ in coverages]
        for chosen, found in self.threads.each(measure, parts) if self._compiled else map(measure, parts):
            for total, part in zip(totals, found, strict=True):
                total[chosen] += part
        return totals

    def _block_gains(
        self, block: NDArray[np.float32], coverage: NDArray[np.float32], mass: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        gains = np.zeros(len(block))
        if self._compiled:
            from benchcore.submodular.pairs import loops

            loops.add_gains(block, coverage, mass, gains)
            return gains
        return np.asarray(np.maximum(block - coverage, 0.0).astype(np.float64) @ mass)
