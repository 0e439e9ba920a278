"""Exact gains of candidates on rows that they are not, as the rows' coverage rises: one shard's part of a merge.

A pass over all pairs gives the gains at the start. From then on a gain is what it was, less what it lost on the rows
whose coverage rose since; when these questions have cost as much as bringing all gains up to date, that is done.
Wherever all similarities of a row are at hand and few enough of them exceed its coverage, they are kept: all that can
ever matter of this row again, since coverage never falls. About one in t + 1 is left of them after t picks, fewer where
the picks are near. So less and less is computed, and what is kept never exceeds its memory.

With `neighbours` all that is kept, and from the start, are the pairs of each row with its nearest candidates: no other
covers it (Lindgren, Wu, Dimakis 2016). Then one pass over all pairs is all that is ever computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.candidate_lists import ENTRY_BYTES, Entries, ListedRows
from benchcore.submodular.pairs.nearest import Nearest
from benchcore.submodular.pairs.panels import each_panel, panels
from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.similarity import TOP

_COMPILED_PAIRS = 5_000**2  # fewer never wait for a compiler
_LISTED_COST = 0.15  # of a listed pair's part of a gain, in that of a similarity that is computed
_PATIENCE = 0.5  # of the cost of bringing all gains up to date, what is spent on single ones before


@dataclass(frozen=True, eq=False)
class _Panel:
    """What came of some rows.

    Attributes:
        lost: (m,) what to take off the known gains.
        listed: rows that are to be listed.
        entries: their pairs; None where there are no such rows.
    """

    lost: NDArray[np.float64]
    listed: NDArray[np.int64]
    entries: Entries | None


class CandidateGains:
    """Gains of m candidates on n rows.

    Args:
        candidates: (m, d) of `quantise`.
        rows: (n, d) of `quantise`.
        mass: (n,) whole numbers.
        picks: candidates in the set already.
        memory: bytes of pairs that may be kept; with `neighbours`, what these take is kept whatever it is.
        neighbours: of each row, how many candidates cover it at all, the most similar ones; default: all.
        floor: (n,) whole numbers from 0, below which coverage counts for nothing; default: 0.
        ceiling: (n,) whole numbers, not below the floor, above which it counts for nothing; default: none.
        threads: to work on; default: one.

    Attributes:
        computed: similarities computed so far.
    """

    def __init__(
        self,
        candidates: Rows,
        rows: Rows,
        mass: NDArray[np.float64],
        picks: NDArray[np.int64],
        *,
        memory: int,
        neighbours: int | None = None,
        floor: NDArray[np.float32] | None = None,
        ceiling: NDArray[np.float32] | None = None,
        threads: Threads | None = None,
    ) -> None:
        self._candidates, self._rows, self._mass, self._ceiling = candidates, rows, mass, ceiling
        self._most_entries = memory // ENTRY_BYTES
        self._compiled = len(candidates) * len(rows) >= _COMPILED_PAIRS
        self._threads = threads if self._compiled else None
        self.computed = 0
        self._coverage = np.zeros(len(rows), np.float32) if floor is None else floor.copy()  # of rows not listed
        self._open = np.arange(len(rows))  # rows that are not listed
        self._lists = ListedRows(len(candidates), compiled=self._compiled)
        self._neighbours = neighbours
        self._nearest = Nearest(np.zeros(len(rows), np.float32), np.zeros(len(rows), np.int64))
        if neighbours is None:
            self._raise(picks)
        self._known = np.zeros(len(candidates))  # gains on the open rows at the coverage `_known_at`
        self._known_at = self._coverage.copy()
        self._bounds = np.zeros(len(candidates))
        self._spent = 0.0
        self._refresh(self._open, first=True)
        if neighbours is not None:
            self._lists.add(picks)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some candidates gain now, exact."""
        risen = self._risen()
        if risen.size and len(candidates) == len(self._candidates):
            self._refresh(risen)
            risen = risen[:0]
        gains = self._known[candidates] - self._lost(risen, candidates) + self._lists.gains(candidates)
        self._spent += len(candidates) * self._cost(risen)
        self._bounds[candidates] = gains
        return gains

    def bounds(self) -> NDArray[np.float64]:
        """What no candidate's gain exceeds: the gains themselves, when they are worth their cost by now."""
        risen = self._risen()
        if self._spent >= _PATIENCE * len(self._candidates) * self._cost(risen):
            self._refresh(risen)
        return self._bounds.copy()

    def add(self, candidates: NDArray[np.int64]) -> None:
        """Raise the coverage by picks."""
        self._raise(candidates)
        self._lists.add(candidates)

    @property
    def entries(self) -> int:
        """How many pairs are kept."""
        return self._lists.entries

    def reached(self, picks: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) how many picks come before the first that is among a row's nearest candidates; all where none is.

        Args:
            picks: candidates in order; `neighbours` was given.
        """
        before = np.full(len(self._rows), len(picks))
        for rows in panels(np.arange(len(self._rows)), len(picks)):
            among = self._nearest.at(rows).among(self._products(rows, self._candidates[picks]), picks)
            before[rows] = np.where(among.any(axis=1), among.argmax(axis=1), len(picks))
        return before

    def _risen(self) -> NDArray[np.int64]:
        return self._open[self._coverage[self._open] > self._known_at[self._open]]

    def _cost(self, risen: NDArray[np.int64]) -> float:
        """Of one candidate's gain, in similarities."""
        return len(risen) + _LISTED_COST * self.entries / len(self._candidates)

    def _raise(self, picks: NDArray[np.int64]) -> None:
        if not len(picks):
            return
        self.computed += len(self._open) * len(picks)
        for rows in panels(self._open, len(picks)):
            block = self._similarities(rows, self._candidates[picks])
            self._coverage[rows] = np.maximum(self._coverage[rows], block.max(axis=1))

    def _lost(self, rows: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some candidates' gains on open rows lost since they were known."""
        lost, chosen = np.zeros(len(candidates)), self._candidates[candidates]
        self.computed += len(rows) * len(candidates)
        for part in panels(rows, len(candidates)):
            low, high = self._known_at[part], self._coverage[part]
            lost += self._between(self._similarities(part, chosen), low, high, self._mass[part])
        return lost

    def _refresh(self, rows: NDArray[np.int64], *, first: bool = False) -> None:
        """Bring all gains up to date, given the open rows that rose (at first, all of them), and list what fits."""
        self.computed += len(rows) * len(self._candidates)
        limit = max(self._most_entries - self.entries, 0) // max(len(self._open), 1)
        if self._neighbours is not None:
            limit = self._neighbours
        listed = [np.zeros(0, np.int64)]
        work = partial(self._panel, limit=limit, first=first)
        for panel in each_panel(work, rows, len(self._candidates), self._threads):
            self._known -= panel.lost
            if panel.entries is not None:
                self._lists.take(panel.entries, self._coverage[panel.listed], self._mass[panel.listed])
                listed.append(panel.listed)
        self._lists.close()
        self._known_at[rows] = self._coverage[rows]
        self._open = np.setdiff1d(self._open, np.concatenate(listed), assume_unique=True)
        self._bounds = self._known + self._lists.gains(np.arange(len(self._candidates)))
        self._spent = 0.0

    def _panel(self, rows: NDArray[np.int64], *, limit: int, first: bool) -> _Panel:
        """Measure some rows against all candidates; those are listed of which at most `limit` pairs matter."""
        block, now = self._products(rows, self._candidates), self._coverage[rows]
        if self._neighbours is not None:
            self._keep_nearest(rows, block, self._neighbours)
        self._cap(rows, block)
        counts = self._count(block, now)
        few = np.flatnonzero(counts <= limit)
        if first:
            low, high = now, np.full(len(rows), TOP, np.float32)
            high[few] = low[few]
        else:
            low, high = self._known_at[rows], now.copy()
            high[few] = TOP
        lost = self._between(block, low, high, self._mass[rows])
        entries = self._collect(block, now, few, int(counts[few].sum())) if few.size else None
        return _Panel(-lost if first else lost, rows[few], entries)

    def _keep_nearest(self, rows: NDArray[np.int64], block: NDArray[np.float32], count: int) -> None:
        """Have none but the nearest candidates cover some rows; note which these are."""
        found = Nearest.of(block, count)
        self._nearest.least[rows], self._nearest.last[rows] = found.least, found.last
        block[~found.among(block, np.arange(block.shape[1]))] = 0.0

    def _similarities(self, rows: NDArray[np.int64], candidates: Rows) -> NDArray[np.float32]:
        block = self._products(rows, candidates)
        self._cap(rows, block)
        return block

    def _products(self, rows: NDArray[np.int64], candidates: Rows) -> NDArray[np.float32]:
        whole = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
        block: NDArray[np.float32] = self._rows[slice(rows[0], rows[-1] + 1) if whole else rows] @ candidates.T
        return block

    def _cap(self, rows: NDArray[np.int64], block: NDArray[np.float32]) -> None:
        if self._ceiling is not None:
            np.minimum(block, self._ceiling[rows, None], out=block)

    def _between(
        self, block: NDArray[np.float32], low: NDArray[np.float32], high: NDArray[np.float32], mass: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """For each candidate the sum over rows of mass times the part of its similarity between low and high."""
        if self._compiled:
            from benchcore.submodular.pairs import candidate_loops as loops

            sums = np.zeros(block.shape[1])
            loops.add_between(block, low, high, mass, sums)
            return sums
        between = np.maximum(np.minimum(np.maximum(block, low[:, None]), high[:, None]) - low[:, None], 0.0)
        return np.asarray(mass @ between.astype(np.float64))

    def _count(self, block: NDArray[np.float32], coverage: NDArray[np.float32]) -> NDArray[np.int64]:
        if self._compiled:
            from benchcore.submodular.pairs import candidate_loops as loops

            counts = np.zeros(len(block), np.int64)
            loops.count_above(block, coverage, counts)
            return counts
        return np.asarray((block > coverage[:, None]).sum(axis=1))

    def _collect(
        self, block: NDArray[np.float32], coverage: NDArray[np.float32], chosen: NDArray[np.int64], size: int
    ) -> Entries:
        """The pairs of chosen rows of a block that exceed the coverage; there are `size`."""
        if not self._compiled:
            above = block[chosen] > coverage[chosen, None]
            rows, candidates = np.nonzero(above)
            return Entries(rows.astype(np.uint16), candidates.astype(np.int32), block[chosen][above])
        from benchcore.submodular.pairs import candidate_loops as loops

        found = Entries(np.empty(size, np.uint16), np.empty(size, np.int32), np.empty(size, np.float32))
        loops.collect_above(block, coverage, chosen, found.rows, found.candidates, found.similarities)
        return found
