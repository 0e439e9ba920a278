"""Lists of the rows whose coverage each candidate can still raise: all that matters of them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ENTRY_BYTES = 6
_MOST_ROWS = 2**16  # of one object: rows are numbered in two bytes
_MOST_ENTRIES = 2**22  # of one object, so that what its making takes beside it stays small
_FIRST_DROP = 16  # picks after which settled pairs are dropped; then after twice as many


@dataclass(frozen=True, eq=False)
class Entries:
    """Pairs of a row and a candidate whose similarity exceeds the row's coverage, row by row.

    Attributes:
        rows: (e,) numbers among the listed rows.
        candidates: (e,) numbers.
        similarities: (e,) whole numbers.
    """

    rows: NDArray[np.uint16]
    candidates: NDArray[np.int32]
    similarities: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows that are to be listed: their pairs, coverage and mass."""

    entries: Entries
    coverage: NDArray[np.float32]
    mass: NDArray[np.float64]


class ListedRows:
    """Rows of which all pairs that matter are listed, in as many objects as they take.

    Args:
        candidates: how many candidates there are.
        compiled: whether there is so much to do that compiled loops are worth while.
    """

    def __init__(self, candidates: int, *, compiled: bool) -> None:
        self._candidates, self._compiled = candidates, compiled
        self._lists: list[CandidateLists] = []
        self._parts: list[_Part] = []  # of the next object
        self._picks, self._next_drop = 0, _FIRST_DROP

    def take(self, entries: Entries, coverage: NDArray[np.float32], mass: NDArray[np.float64]) -> None:
        """Take some rows in; `close` after the last ones, and before anything is asked.

        Args:
            entries: all pairs that exceed the rows' coverage.
            coverage: (r,) whole numbers.
            mass: (r,) whole numbers.
        """
        rows = len(coverage) + sum(len(part.coverage) for part in self._parts)
        pairs = len(entries.candidates) + sum(len(part.entries.candidates) for part in self._parts)
        if rows > _MOST_ROWS or pairs > _MOST_ENTRIES:
            self.close()
        self._parts.append(_Part(entries, coverage, mass))

    def close(self) -> None:
        """List the rows that were taken in."""
        if not self._parts:
            return
        parts, first = [], 0
        for part in self._parts:
            numbers = part.entries.rows + np.uint16(first)
            parts.append(Entries(numbers, part.entries.candidates, part.entries.similarities))
            first += len(part.coverage)
        coverage = np.concatenate([part.coverage for part in self._parts])
        mass = np.concatenate([part.mass for part in self._parts])
        self._parts = []
        self._lists.append(CandidateLists(parts, self._candidates, coverage, mass, compiled=self._compiled))

    @property
    def entries(self) -> int:
        """How many pairs are listed."""
        return sum(lists.entries for lists in self._lists)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some candidates gain on the listed rows."""
        gains = np.zeros(len(candidates))
        for lists in self._lists:
            gains += lists.gains(candidates)
        return gains

    def add(self, candidates: NDArray[np.int64]) -> None:
        """Raise the coverage by picks."""
        for lists in self._lists:
            for candidate in candidates:
                lists.add(int(candidate))
        self._picks += len(candidates)
        if self._picks >= self._next_drop:
            self._next_drop = 2 * self._picks
            for lists in self._lists:
                lists.drop_settled()


class CandidateLists:
    """For every candidate the rows that it may still raise, with the similarity.

    Args:
        parts: all pairs that exceed the coverage.
        candidates: how many candidates there are.
        coverage: (rows,) of the listed rows, whole numbers.
        mass: (rows,) whole numbers.
        compiled: whether there is so much to do that compiled loops are worth while.
    """

    def __init__(
        self,
        parts: Sequence[Entries],
        candidates: int,
        coverage: NDArray[np.float32],
        mass: NDArray[np.float64],
        *,
        compiled: bool,
    ) -> None:
        self._coverage, self._mass, self._compiled = coverage, mass, compiled
        counts = np.zeros(candidates, np.int64)
        for part in parts:
            counts += np.bincount(part.candidates, minlength=candidates)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._rows = np.empty(self.entries, np.uint16)
        self._similarities = np.empty(self.entries, np.float32)
        self._place(parts)

    @property
    def entries(self) -> int:
        """How many pairs are listed."""
        return int(self._starts[-1])

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some candidates gain on the listed rows."""
        gains = np.zeros(len(candidates))
        if self._compiled:
            from benchcore.submodular.pairs import candidate_loops as loops

            lists = self._starts, self._rows, self._similarities
            loops.add_list_gains(candidates, *lists, self._coverage, self._mass, gains)
            return gains
        for place, candidate in enumerate(candidates):
            rows, similarities = self._list(int(candidate))
            gains[place] = self._mass[rows] @ np.maximum(similarities - self._coverage[rows], 0.0).astype(np.float64)
        return gains

    def add(self, candidate: int) -> None:
        """Raise the coverage by a pick."""
        rows, similarities = self._list(candidate)
        self._coverage[rows] = np.maximum(self._coverage[rows], similarities)

    def drop_settled(self) -> None:
        """Let go of the pairs that do not exceed the coverage any more."""
        open_ = self._similarities > self._coverage[self._rows]
        before = np.concatenate([[0], np.cumsum(open_)])
        self._starts = before[self._starts]
        self._rows, self._similarities = self._rows[open_], self._similarities[open_]

    def _list(self, candidate: int) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
        entries = slice(self._starts[candidate], self._starts[candidate + 1])
        return self._rows[entries], self._similarities[entries]

    def _place(self, parts: Sequence[Entries]) -> None:
        if self._compiled:
            from benchcore.submodular.pairs import candidate_loops as loops

            ends = self._starts[:-1].copy()
            for part in parts:
                loops.place_by_candidate(
                    part.rows, part.candidates, part.similarities, ends, self._rows, self._similarities
                )
            return
        order = np.argsort(np.concatenate([part.candidates for part in parts]), kind="stable")
        self._rows[:] = np.concatenate([part.rows for part in parts])[order]
        self._similarities[:] = np.concatenate([part.similarities for part in parts])[order]
