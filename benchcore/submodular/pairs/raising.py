"""The pairs whose similarity exceeds a coverage: all that can ever matter again, since coverage never falls.

After t picks these are about two pairs in t + 1. With them in memory all gains are kept exact: a pick lowers the gains
of those that would have raised the same rows, and over all picks that is a few times the number of pairs.
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.pairs.tiles import Tile, Tiling
from benchcore.submodular.similarities.similarity import Similarity

ENTRY_BYTES = 8
_PART = 1024  # lists that a thread works on at a time
_FIRST_DROP = 16  # picks after which settled pairs are dropped for the first time; then after twice as many


class RaisingPairs:
    """A list for each candidate: those whose coverage it may raise or that may raise its own, with the similarity.

    Args:
        similarity: symmetric; negative ones count as 0, since coverage starts there.
        threads: to work on.
        coverage: (n,) whole numbers; raised in place by every pick from now on.
        mass: (n,) whole numbers.
        counts: (n,) at least the lengths of the lists.

    Attributes:
        gains: (n,) current gains of all candidates.
    """

    def __init__(
        self,
        similarity: Similarity,
        threads: Threads,
        coverage: NDArray[np.float32],
        mass: NDArray[np.float64],
        counts: NDArray[np.int32],
    ) -> None:
        self._threads, self._coverage, self._mass = threads, coverage, mass
        bounds = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._lists = (
            bounds[:-1],
            bounds[:-1].copy(),
            np.empty(bounds[-1], np.int32),
            np.empty(bounds[-1], np.float32),
        )
        self._collect(similarity)
        self.gains = np.zeros(len(coverage))
        self._measure()
        self._picks, self._next_drop = 0, _FIRST_DROP

    def add(self, pick: int) -> None:
        """Raise the coverage by a pick, and bring all gains up to date."""
        from benchcore.submodular.pairs import loops

        loops.raise_coverage(pick, *self._lists, self._coverage, self._mass, self.gains)
        self._picks += 1
        if self._picks == self._next_drop:
            self._next_drop *= 2
            self._drop_settled()

    def _collect(self, similarity: Similarity) -> None:
        from benchcore.submodular.pairs import loops

        tiling, coverage = Tiling.of(similarity), self._coverage
        _, ends, *lists = self._lists
        tiles = [tile for panel in tiling.panels for tile in tiling.tiles(panel)]
        locks = {tile.represented.start: Lock() for tile in tiles}  # two tiles may have entries for the same lists

        def append(tile: Tile) -> None:
            own, rows = tile.candidates, tile.represented
            block = similarity.block(own, rows)
            with locks[own.start]:
                loops.append_rows(block, coverage[own], coverage[rows], rows.start, ends[own], *lists)
            if tile.mirrored:
                with locks[rows.start]:
                    loops.append_columns(block, coverage[own], coverage[rows], own.start, ends[rows], *lists)

        for _ in self._threads.each(append, tiles):
            pass

    def _measure(self) -> None:
        from benchcore.submodular.pairs import loops

        def measure(part: range) -> None:
            loops.list_gains(part.start, part.stop, *self._lists, self._coverage, self._mass, self.gains)

        for _ in self._threads.each(measure, self._parts()):
            pass

    def _drop_settled(self) -> None:
        from benchcore.submodular.pairs import loops

        def drop(part: range) -> None:
            loops.drop_settled(part.start, part.stop, *self._lists, self._coverage)

        for _ in self._threads.each(drop, self._parts()):
            pass

    def _parts(self) -> list[range]:
        n = len(self._coverage)
        return [range(start, min(start + _PART, n)) for start in range(0, n, _PART)]
