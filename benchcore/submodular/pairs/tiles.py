"""How pairs of candidates and represented rows are cut into pieces that fit into the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchcore.submodular.similarities.similarity import Similarity

_ROWS = 2048  # represented rows of a block
_CELLS = 2**20  # similarities of a block: 4 MB, and 8 MB in double precision
SIDE = 1024  # candidates and represented rows of a tile: 4 MB of similarities, for a core's share of the cache


@dataclass(frozen=True)
class Tile:
    """Some candidates and some represented rows.

    Attributes:
        candidates: of one panel.
        represented: part of all.
        mirrored: whether the tile stands for its transpose as well, which then is no tile of its own.
        offset: pairs in the tiles before it.
    """

    candidates: slice
    represented: slice
    mirrored: bool
    offset: int

    @property
    def shape(self) -> tuple[int, int]:
        """Candidates and represented rows."""
        height, width = (part.stop - part.start for part in (self.candidates, self.represented))
        return height, width


@dataclass(frozen=True)
class Tiling:
    """All pairs; of a symmetric similarity the half on and above the diagonal.

    Attributes:
        candidates: how many.
        represented: how many.
        symmetric: whether s_ij = s_ji.
    """

    candidates: int
    represented: int
    symmetric: bool

    @staticmethod
    def of(similarity: Similarity) -> Tiling:
        """The tiling of a similarity."""
        return Tiling(similarity.candidates, similarity.represented, similarity.symmetric)

    @property
    def panels(self) -> range:
        """Numbers of the panels; the first are the longest."""
        return range(-(-self.candidates // SIDE))

    @property
    def pairs(self) -> int:
        """How many pairs the tiles hold."""
        return self._before(len(self.panels))

    def tiles(self, panel: int) -> Iterator[Tile]:
        """The tiles of a panel, from left to right."""
        candidates = slice(panel * SIDE, panel * SIDE + self._height(panel))
        offset = self._before(panel)
        for left in range(self._start(panel), self.represented, SIDE):
            represented = slice(left, min(left + SIDE, self.represented))
            tile = Tile(candidates, represented, self.symmetric and left != candidates.start, offset)
            yield tile
            offset += tile.shape[0] * tile.shape[1]

    def _height(self, panel: int) -> int:
        return min(SIDE, self.candidates - panel * SIDE)

    def _start(self, panel: int) -> int:
        return panel * SIDE if self.symmetric else 0

    def _before(self, panel: int) -> int:
        return sum(self._height(each) * (self.represented - self._start(each)) for each in range(panel))


def blocks(candidates: int, represented: int) -> Iterator[tuple[slice, slice]]:
    """Cut candidates x represented rows into blocks of a size that stays in the processor's cache.

    Where only some candidates or rows are measured; `Tiling` is for all pairs, each once.
    """
    width = max(1, min(_ROWS, represented))
    height = max(1, _CELLS // width)
    for start in range(0, candidates, height):
        for first in range(0, represented, width):
            yield slice(start, min(start + height, candidates)), slice(first, min(first + width, represented))
