"""Exact gains of candidates on rows that they are not, as the rows' coverage rises: one shard's part of a merge.

A pass over all pairs gives the gains at the start. From then on a gain is what it was, less what it lost on the rows
whose coverage rose since; when these questions have cost as much as bringing all gains up to date, that is done.
Wherever all similarities of a row are at hand and few enough of them exceed its coverage, they are kept: all that can
ever matter of this row again, since coverage never falls. About one in t + 1 is left of them after t picks, fewer where
the picks are near. So less and less is computed, and what is kept never exceeds its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.candidate_lists import ENTRY_BYTES, MOST_ROWS, CandidateLists, Entries
from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.similarity import TOP

_CELLS = 2**21  # similarities that a thread has at a time: 8 MB
_MOST_ROWS = 4096  # and rows
_COMPILED_PAIRS = 5_000**2  # fewer never wait for a compiler
_LISTED_COST = 0.15  # of a listed pair's part of a gain, in that of a similarity that is computed
_PATIENCE = 0.5  # of the cost of bringing all gains up to date, what is spent on single ones before
_FIRST_DROP = 16  # picks after which settled pairs are dropped; then after twice as many


@dataclass(frozen=True, eq=False)
class _Panel:
    """Rows at hand, and what came of them.

    Attributes:
        rows: (r,) numbers.
        lost: (m,) what to take off the known gains.
        listed: which of the rows were listed.
        entries: their pairs, rows numbered within the panel.
    """

    rows: NDArray[np.int64]
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
        memory: bytes of pairs that may be kept.
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
        floor: NDArray[np.float32] | None = None,
        ceiling: NDArray[np.float32] | None = None,
        threads: Threads | None = None,
    ) -> None:
        self._candidates, self._rows, self._mass, self._ceiling = candidates, rows, mass, ceiling
        self._most_entries, self._threads = memory // ENTRY_BYTES, threads
        self._compiled = len(candidates) * len(rows) >= _COMPILED_PAIRS
        self.computed = 0
        self._coverage = np.zeros(len(rows), np.float32) if floor is None else floor.copy()  # of rows not listed
        self._open = np.arange(len(rows))  # rows that are not listed
        self._lists: list[CandidateLists] = []
        self._picks, self._next_drop = 0, _FIRST_DROP
        self._raise(picks)
        self._known = np.zeros(len(candidates))  # gains on the open rows at the coverage `_known_at`
        self._known_at = self._coverage.copy()
        self._bounds = np.zeros(len(candidates))
        self._spent = 0.0
        self._refresh(self._open, first=True)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some candidates gain now, exact."""
        risen = self._risen()
        if risen.size and len(candidates) == len(self._candidates):
            self._refresh(risen)
            risen = risen[:0]
        gains = self._known[candidates] - self._lost(risen, candidates)
        for lists in self._lists:
            gains += lists.gains(candidates)
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
        for lists in self._lists:
            for candidate in candidates:
                lists.add(int(candidate))
        self._picks += len(candidates)
        if self._picks >= self._next_drop:
            self._next_drop = 2 * self._picks
            for lists in self._lists:
                lists.drop_settled()

    @property
    def entries(self) -> int:
        """How many pairs are kept."""
        return sum(lists.entries for lists in self._lists)

    def _risen(self) -> NDArray[np.int64]:
        return self._open[self._coverage[self._open] > self._known_at[self._open]]

    def _cost(self, risen: NDArray[np.int64]) -> float:
        """Of one candidate's gain, in similarities."""
        return len(risen) + _LISTED_COST * self.entries / len(self._candidates)

    def _raise(self, picks: NDArray[np.int64]) -> None:
        if not len(picks):
            return
        self.computed += len(self._open) * len(picks)
        for rows in self._panels(self._open, len(picks)):
            block = self._similarities(rows, self._candidates[picks])
            self._coverage[rows] = np.maximum(self._coverage[rows], block.max(axis=1))

    def _lost(self, rows: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some candidates' gains on open rows lost since they were known."""
        lost, chosen = np.zeros(len(candidates)), self._candidates[candidates]
        self.computed += len(rows) * len(candidates)
        for part in self._panels(rows, len(candidates)):
            low, high = self._known_at[part], self._coverage[part]
            lost += self._between(self._similarities(part, chosen), low, high, self._mass[part])
        return lost

    def _refresh(self, rows: NDArray[np.int64], *, first: bool = False) -> None:
        """Bring all gains up to date, given the open rows that rose (at first, all of them), and list what fits."""
        self.computed += len(rows) * len(self._candidates)
        limit = max(self._most_entries - self.entries, 0) // max(len(self._open), 1)
        panels = list(self._panels(rows, len(self._candidates)))
        done = list(self._each(lambda part: self._panel(part, limit, first), panels))
        for panel in done:
            self._known -= panel.lost
        self._known_at[rows] = self._coverage[rows]
        self._list([panel for panel in done if panel.listed.size])
        self._bounds = self._known.copy()
        everything = np.arange(len(self._candidates))
        for lists in self._lists:
            self._bounds += lists.gains(everything)
        self._spent = 0.0

    def _panel(self, rows: NDArray[np.int64], limit: int, first: bool) -> _Panel:
        """Measure some rows against all candidates; those are listed of which at most `limit` pairs matter."""
        block, now = self._similarities(rows, self._candidates), self._coverage[rows]
        few = np.flatnonzero(self._count(block, now) <= limit)
        if first:
            low, high = now, np.full(len(rows), TOP, np.float32)
            high[few] = low[few]
        else:
            low, high = self._known_at[rows], now.copy()
            high[few] = TOP
        lost = self._between(block, low, high, self._mass[rows])
        entries = self._collect(block, now, few) if few.size else None
        return _Panel(rows, -lost if first else lost, few, entries)

    def _list(self, panels: list[_Panel]) -> None:
        """Move rows from the open ones to lists."""
        group: list[_Panel] = []
        for panel in [*panels, None]:
            size = sum(len(each.listed) for each in group)
            if group and (panel is None or size + len(panel.listed) > MOST_ROWS):
                self._list_group(group)
                group = []
            if panel is not None:
                group.append(panel)
        if panels:
            listed = np.concatenate([panel.rows[panel.listed] for panel in panels])
            self._open = np.setdiff1d(self._open, listed, assume_unique=True)

    def _list_group(self, panels: list[_Panel]) -> None:
        rows = np.concatenate([panel.rows[panel.listed] for panel in panels])
        parts: list[Entries] = []
        first = 0
        for panel in panels:
            if panel.entries is not None:
                numbers = panel.entries.rows + np.uint16(first)
                parts.append(Entries(numbers, panel.entries.candidates, panel.entries.similarities))
            first += len(panel.listed)
        lists = CandidateLists(
            parts, len(self._candidates), self._coverage[rows], self._mass[rows], compiled=self._compiled
        )
        self._lists.append(lists)

    def _similarities(self, rows: NDArray[np.int64], candidates: Rows) -> NDArray[np.float32]:
        whole = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
        block: NDArray[np.float32] = self._rows[slice(rows[0], rows[-1] + 1) if whole else rows] @ candidates.T
        if self._ceiling is not None:
            np.minimum(block, self._ceiling[rows, None], out=block)
        return block

    def _panels(self, rows: NDArray[np.int64], candidates: int) -> Iterator[NDArray[np.int64]]:
        step = max(1, min(_MOST_ROWS, _CELLS // max(candidates, 1)))
        return (rows[start : start + step] for start in range(0, len(rows), step))

    def _each(self, work: Callable[[NDArray[np.int64]], _Panel], panels: list[NDArray[np.int64]]) -> Iterator[_Panel]:
        if self._threads is None or self._threads.count == 1 or not self._compiled:
            return map(work, panels)
        return self._threads.each(work, panels)

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

    def _collect(self, block: NDArray[np.float32], coverage: NDArray[np.float32], chosen: NDArray[np.int64]) -> Entries:
        """The pairs of chosen rows of a block that exceed the coverage."""
        above = block[chosen] > coverage[chosen, None]
        if not self._compiled:
            rows, candidates = np.nonzero(above)
            return Entries(rows.astype(np.uint16), candidates.astype(np.int32), block[chosen][above])
        from benchcore.submodular.pairs import candidate_loops as loops

        size = int(above.sum())
        found = Entries(np.empty(size, np.uint16), np.empty(size, np.int32), np.empty(size, np.float32))
        loops.collect_above(block, coverage, chosen, found.rows, found.candidates, found.similarities)
        return found
