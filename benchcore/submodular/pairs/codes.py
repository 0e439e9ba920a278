"""An upper bound on every similarity in one byte, and from these on every gain: a pass takes tenths of a second.

Similarities are rounded up to one of 255 levels. Where a bound rules a candidate out, its exact gain, which costs a row
of the similarity matrix, need not be measured.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.code_scale import choose_scale
from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.pairs.tiles import Tile, Tiling
from benchcore.submodular.similarities.similarity import Similarity

_SAMPLE = 512  # candidates and represented rows, evenly spaced, from whose similarities the scale is chosen


class Codes:
    """One byte for each pair, and the gains at a coverage that they were made beside.

    Args:
        similarity: clipped at 0 by the codes.
        threads: to work on.
        coverage: (represented,) whole numbers.
        mass: (represented,) whole numbers.

    Attributes:
        gains: (candidates,) exact gains at `coverage`.
    """

    def __init__(
        self, similarity: Similarity, threads: Threads, coverage: NDArray[np.float32], mass: NDArray[np.float64]
    ) -> None:
        self._tiling, self._threads, self._mass = Tiling.of(similarity), threads, mass
        self._scale = choose_scale(_sample(similarity))
        self._codes = np.empty(self._tiling.pairs, np.uint8)
        self.gains = self._encode(similarity, coverage)

    @staticmethod
    def size(similarity: Similarity) -> int:
        """Bytes that the codes of a similarity take."""
        return Tiling.of(similarity).pairs

    @property
    def bytes(self) -> int:
        """Bytes that these codes take."""
        return len(self._codes)

    def bounds(self, coverage: NDArray[np.float32]) -> NDArray[np.float64]:
        """Upper bounds on all gains at a coverage."""
        from benchcore.submodular.pairs import loops

        scale, single_mass = self._scale.decoding, self._mass.astype(np.float32)

        def bound(panel: int) -> NDArray[np.float64]:
            bounds = np.zeros(self._tiling.candidates)
            for tile in self._tiling.tiles(panel):
                own, rows = tile.candidates, tile.represented
                codes, wide, mass = self._tile(tile), coverage[rows], single_mass[rows]
                if tile.mirrored:
                    tall, own_mass = coverage[own], single_mass[own]
                    loops.add_bounds_both_ways(codes, *scale, wide, mass, bounds[own], tall, own_mass, bounds[rows])
                else:
                    loops.add_bounds(codes, *scale, wide, mass, bounds[own])
            return bounds

        total = np.zeros(self._tiling.candidates)
        for bounds in self._threads.each(bound, self._tiling.panels):
            total += bounds
        return total * loops.SINGLE_SUMS

    def counts(self, coverage: NDArray[np.float32]) -> NDArray[np.int32]:
        """Upper bounds on the lengths of the lists of `RaisingPairs` at a coverage; the similarity is symmetric."""
        from benchcore.submodular.pairs import loops

        scale = self._scale.decoding

        def count(panel: int) -> NDArray[np.int32]:
            counts = np.zeros(self._tiling.candidates, np.int32)
            for tile in self._tiling.tiles(panel):
                own, rows = tile.candidates, tile.represented
                others = counts[rows] if tile.mirrored else np.zeros(tile.shape[1], np.int32)
                loops.add_counts(self._tile(tile), *scale, coverage[rows], coverage[own], counts[own], others)
            return counts

        total = np.zeros(self._tiling.candidates, np.int32)
        for counts in self._threads.each(count, self._tiling.panels):
            total += counts
        return total

    def _encode(self, similarity: Similarity, coverage: NDArray[np.float32]) -> NDArray[np.float64]:
        from benchcore.submodular.pairs import loops

        def encode(panel: int) -> NDArray[np.float64]:
            gains = np.zeros(self._tiling.candidates)
            for tile in self._tiling.tiles(panel):
                own, rows = tile.candidates, tile.represented
                block = similarity.block(own, rows)
                loops.encode(block, *self._scale.encoding, self._tile(tile))
                wide, mass = coverage[rows], self._mass[rows]
                if tile.mirrored:
                    tall, other_mass = coverage[own], self._mass[own]
                    loops.add_gains_both_ways(block, wide, mass, gains[own], tall, other_mass, gains[rows])
                else:
                    loops.add_gains(block, wide, mass, gains[own])
            return gains

        total = np.zeros(self._tiling.candidates)
        for gains in self._threads.each(encode, self._tiling.panels):
            total += gains
        return total

    def _tile(self, tile: Tile) -> NDArray[np.uint8]:
        height, width = tile.shape
        return self._codes[tile.offset : tile.offset + height * width].reshape(height, width)


def _sample(similarity: Similarity) -> NDArray[np.float32]:
    """Similarities of some candidates and represented rows, evenly spaced."""
    own = np.unique(np.linspace(0, similarity.candidates - 1, _SAMPLE).astype(np.int64))
    rows = np.unique(np.linspace(0, similarity.represented - 1, 2 * _SAMPLE).astype(np.int64))
    return similarity.block(own, rows)
