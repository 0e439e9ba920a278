"""A merge: picks of shards, or of smaller merges, compete again, measured against every prompt below it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.crew import Crew
from benchcore.distributed.on_actors import merging
from benchcore.distributed.on_actors.coverage import rows_at
from benchcore.distributed.on_actors.held import Compact
from benchcore.registry.identity import digest


class MergedObjective:
    """The objective over some shards: workers measure their rows, and whole-number parts add up in any order.

    Args:
        crew: the workers.
        centre: shared reference to the centre.
        shards: whose rows are represented.
        candidates: (m, d) quantised rows.
    """

    def __init__(self, crew: Crew, centre: Any, shards: tuple[int, ...], candidates: Compact) -> None:
        self._crew, self._centre = crew, centre
        name = digest(list(shards), candidates.tobytes().hex())
        self._merging = crew.share(merging.Merging(name, shards, candidates))
        self._picks: list[int] = []
        self.value = 0.0
        self._known: NDArray[np.float64] | None = None  # gains after these picks

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now, whole numbers."""
        if self._known is None:  # those of all cost no more: one question to the workers either way
            parts = self._crew.ask_all(merging.gains, self._centre, self._merging, self._picks)
            self._known = np.sum(parts, axis=0)
        return np.asarray(self._known[candidates])

    def add(self, candidate: int) -> None:
        """Put a candidate into the set; workers learn of it with the next question."""
        self.value += float(self.gains(np.array([candidate]))[0])
        self._picks.append(candidate)
        self._known = None


def rows_of(crew: Crew, centre: Any, positions: NDArray[np.int64]) -> Compact:
    """Quantised rows of pool positions, in the order given; few enough for one process (picks, not pools)."""
    answers = crew.ask_all(rows_at, centre, positions)
    found = np.concatenate([answer[0] for answer in answers])
    rows = np.concatenate([answer[1] for answer in answers])
    order = np.argsort(found)
    return rows[order[np.searchsorted(found[order], positions)]]
