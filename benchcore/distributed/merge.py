"""A merge: picks of shards, or of smaller merges, compete again, measured against every prompt below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.crew import Crew
from benchcore.distributed.on_actors import merging
from benchcore.distributed.on_actors.coverage import rows_at
from benchcore.distributed.on_actors.held import Compact
from benchcore.distributed.on_actors.query import Query
from benchcore.distributed.reached import Reached
from benchcore.submodular.optimizers.result import Greedy


class MergedObjective:
    """The objective over some shards: workers measure their rows, and whole-number parts add up in any order.

    Args:
        crew: the workers.
        centre: shared reference to the centre.
        merged: what the merge is of.
        made: picks that come first, whose gains are known; nobody is asked for these.
    """

    slack = 0.0
    monotone = True

    def __init__(self, crew: Crew, centre: Any, merged: merging.Merging, made: Greedy) -> None:
        self._crew, self._centre, self._made = crew, centre, made
        self._merging = crew.share(merged)
        self.n = len(merged.candidates)
        self.order: list[int] = []
        self.raised: list[float] = []  # gains of these picks
        self._measured: dict[int, float] = {}  # gains that were asked for after these picks

    @property
    def value(self) -> float:
        """The objective at the set so far, a whole number."""
        return float(sum(self.raised))

    @property
    def picks(self) -> Greedy:
        """What has been picked so far, and the gains."""
        return Greedy(np.array(self.order, np.int64), np.array(self.raised, np.float64))

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now, whole numbers."""
        at = len(self.order)
        if at < len(self._made.order) and candidates.tolist() == [self._made.order[at]]:
            found = self._made.gains[at : at + 1]
        else:
            found = np.sum(
                self._crew.ask_all(merging.gains, self._centre, self._merging, self.order, candidates), axis=0
            )
        self._measured.update(zip(candidates.tolist(), found.tolist(), strict=True))
        return found

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """Lower upper bounds on all gains, by what the workers know or think worth measuring now."""
        parts = self._crew.ask_all(merging.bounds, self._centre, self._merging, self.order)
        np.minimum(bounds, np.sum(parts, axis=0), out=bounds)
        return True

    def add(self, candidate: int) -> None:
        """Put a candidate into the set; workers learn of it with the next question."""
        if candidate not in self._measured:
            self.gains(np.array([candidate]))
        self.raised.append(self._measured[candidate])
        self.order.append(candidate)
        self._measured = {}

    def values(self, sets: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """The values of some sets of candidates."""
        total: NDArray[np.float64] = np.sum(
            self._crew.ask_all(merging.values, self._centre, self._merging, list(sets)), axis=0
        )
        return total

    def reached(self, order: NDArray[np.int64]) -> Reached:
        """Rows by the first of these candidates that is among their nearest; what is merged has `neighbours`."""
        parts = self._crew.ask_all(merging.reached, self._centre, self._merging, self.order, order)
        prompts, mass = np.sum(parts, axis=0)
        return Reached(prompts.astype(np.int64), mass)

    def end(self) -> None:
        """Have the workers let go of what they kept."""
        self._crew.ask_all(merging.end)


def increases(
    crew: Crew, centre: Any, shards: tuple[int, ...], rows: Compact, query: Query | None = None
) -> NDArray[np.float64]:
    """(k,) by how much each of some picks, in their order, raises the value on the rows of some shards.

    Args:
        crew: the workers.
        centre: shared reference to the centre.
        shards: whose rows are represented.
        rows: (k, d) quantised rows of the picks.
        query: bounds what coverage counts; None without one.
    """
    total: NDArray[np.float64] = np.sum(crew.ask_all(merging.increases, centre, shards, rows, query), axis=0)
    return total


def rows_of(crew: Crew, centre: Any, positions: NDArray[np.int64]) -> Compact:
    """Quantised rows of pool positions, in the order given; few enough for one process (picks, not pools)."""
    answers = crew.ask_all(rows_at, centre, positions)
    found = np.concatenate([answer[0] for answer in answers])
    rows = np.concatenate([answer[1] for answer in answers])
    order = np.argsort(found)
    return rows[order[np.searchsorted(found[order], positions)]]
