"""An actor's part of a merge: what candidates gain on its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards
from benchcore.submodular.pairs.passes import Passes
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.dot import DotSimilarity


@dataclass(frozen=True, eq=False)
class Merging:
    """What a merge is of; the same in all its calls.

    Attributes:
        name: tells merges apart.
        shards: whose rows are represented.
        candidates: (m, d) quantised rows.
    """

    name: str
    shards: tuple[int, ...]
    candidates: Compact


def gains(held: HeldShards, centre: Centre, merging: Merging, picks: Sequence[int]) -> NDArray[np.float64]:
    """(m,) what each candidate gains on the actor's rows, after some picks.

    Args:
        held: the actor's shards.
        centre: of the pool.
        merging: the merge.
        picks: candidates in the set, in order; usually those of the last call and one more.
    """
    kept = held.kept.get("merge")
    if kept is None or kept.name != merging.name or kept.picks != list(picks[: len(kept.picks)]):
        rows = merging.candidates.astype(np.float32)
        mine = [number for number in merging.shards if number in held.shards]
        parts = [Covered(rows, held.rows(number, centre), held.shards[number].mass) for number in mine]
        kept = held.kept["merge"] = _Kept(merging.name, parts)
    for part in kept.parts:
        part.cover(picks[len(kept.picks) :])
    kept.picks = list(picks)
    total: NDArray[np.float64] = np.sum(
        [np.zeros(len(merging.candidates)), *(part.gains() for part in kept.parts)], axis=0
    )
    return total


@dataclass(eq=False)
class _Kept:
    name: str
    parts: list[Covered]
    picks: list[int] = field(default_factory=list)


class Covered:
    """Rows of a shard, covered by some of a set of candidates."""

    def __init__(self, candidates: Rows, rows: Rows, mass: NDArray[np.float64]) -> None:
        self.rows, self.coverage = rows, np.zeros(len(rows), np.float32)
        self._similarity = DotSimilarity(candidates, rows, clipped=False)
        self._passes = Passes(self._similarity, mass)

    def cover(self, candidates: Sequence[int]) -> None:
        """Raise the coverage by candidates."""
        for candidate in candidates:
            row = self._similarity.block(np.array([candidate]), slice(None))[0]
            np.maximum(self.coverage, row, out=self.coverage)

    def gains(self) -> NDArray[np.float64]:
        """What each candidate would add to the coverage."""
        return self._passes.all_gains(self.coverage)
