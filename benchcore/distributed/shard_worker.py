"""What one Ray actor does: it holds the rows of its shards, and answers with picks, sums and gains.

No call relies on an earlier one: each brings all that it needs beside the vectors (which the actor reads itself), and
what an actor keeps is only there to save time. So Ray may start a dead actor again and repeat its calls, and the
answers stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.pairs.passes import Passes
from benchcore.submodular.quantise import Rows, mass_sums, quantise, require_directions
from benchcore.submodular.similarities.dot import DotSimilarity

Centre = NDArray[np.float64]
_BLOCK = 4096  # rows
_MEND = "Filter these prompts out, or embed them anew."
Compact = NDArray[np.int16]  # quantised rows on their way between processes: half the bytes, the same numbers


@dataclass(frozen=True, eq=False)
class ShardRows:
    """What a worker is told about a shard: everything but its vectors.

    Attributes:
        buckets: partitions of the embeddings table.
        positions: (n,) in the pool, ascending.
        ids: (n,) prompt ids, for errors.
        text_hash: (n,) texts of the rows.
        mass: (n,) whole numbers.
        turns: (n,) group numbers for balanced rounds.
        available: (n,) whether a row may be picked.
    """

    buckets: tuple[int, ...]
    positions: NDArray[np.int64]
    ids: NDArray[np.str_]
    text_hash: NDArray[np.str_]
    mass: NDArray[np.float64]
    turns: NDArray[np.int64]
    available: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Given:
    """Picks that every shard starts from.

    Attributes:
        rows: (g, d) their quantised rows.
        counts: (turns,) how many of them each group has.
    """

    rows: Compact
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Nearest:
    """How the rows of a worker's shards are covered by some picks.

    Attributes:
        positions: (n,) in the pool.
        coverage: (n,) whole-number similarity to the nearest pick, not negative.
        pick: (n,) which pick that is; the earlier of equals.
    """

    positions: NDArray[np.int64]
    coverage: NDArray[np.float32]
    pick: NDArray[np.int64]


class ShardWorker:
    """Holds the rows of some shards.

    Args:
        embeddings: where the vectors lie.
        shards: those that are this worker's.
        memory: bytes that a local round may keep beside the rows.
    """

    def __init__(self, embeddings: Embeddings, shards: Sequence[ShardRows], memory: int) -> None:
        self._memory = memory
        self._embeddings, self._shards = embeddings, list(shards)
        self._vectors: dict[int, NDArray[np.float32]] = {}  # until they are quantised
        self._rows: dict[int, Rows] = {}
        self._merging: tuple[str, list[_Covered], list[int]] = ("", [], [])

    def magnitude(self) -> float:
        """Largest absolute value in the vectors.

        Raises:
            BenchcoreError: a vector is all zeros or not finite; names the prompts.
        """
        return max(float(np.max(np.abs(self._read(shard)))) for shard in range(len(self._shards)))

    def sums(self, exponent: int) -> NDArray[np.int64]:
        """Exact sums of mass times vector."""
        parts = (mass_sums(self._read(number), shard.mass, exponent) for number, shard in enumerate(self._shards))
        total: NDArray[np.int64] = np.sum(list(parts), axis=0, dtype=np.int64)
        return total

    def local(self, centre: Centre, shard: int, depth: int, given: Given) -> Greedy:
        """The local round of one of this worker's shards: greedy picks beyond the given ones, as pool positions."""
        own = self._shards[shard]
        rows = self._quantised(centre, shard)
        floor = _coverage(rows, given.rows)
        objective = FacilityLocation(DotSimilarity(rows, clipped=False), own.mass, floor, memory=self._memory)
        picks = lazy_greedy(objective, Rounds(own.turns, own.available, depth, given.counts), landmarks=False)
        return Greedy(own.positions[picks.order], picks.gains)

    def rows(self, centre: Centre, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], Compact]:
        """Those of these pool positions that are this worker's, and their quantised rows."""
        found: list[NDArray[np.int64]] = []
        rows: list[Compact] = []
        for number, shard in enumerate(self._shards):
            mine = np.intersect1d(positions, shard.positions)
            found.append(mine)
            rows.append(_compact(self._quantised(centre, number)[np.searchsorted(shard.positions, mine)]))
        return np.concatenate(found), np.concatenate(rows)

    def gains(self, centre: Centre, pool: str, candidates: Compact, picks: list[int]) -> NDArray[np.float64]:
        """What each candidate gains on this worker's rows, after some picks.

        Args:
            centre: of the pool.
            pool: name of this set of candidates.
            candidates: (m, d) rows.
            picks: candidates in the set, in order; usually those of the last call and one more.
        """
        known, parts, done = self._merging
        if known != pool or done != picks[: len(done)]:
            rows, done = candidates.astype(np.float32), []
            parts = [
                _Covered(rows, self._quantised(centre, number), shard.mass) for number, shard in enumerate(self._shards)
            ]
        for part in parts:
            part.cover(picks[len(done) :])
        self._merging = (pool, parts, list(picks))
        total: NDArray[np.float64] = np.sum([part.gains() for part in parts], axis=0)
        return total

    def value(self, centre: Centre, picks: Compact) -> float:
        """The objective of some picks on this worker's rows."""
        return sum(
            float(shard.mass @ _coverage(self._quantised(centre, number), picks).astype(np.float64))
            for number, shard in enumerate(self._shards)
        )

    def nearest(self, centre: Centre, picks: Compact) -> Nearest:
        """How this worker's rows are covered."""
        rows, positions, coverage, nearest = picks.astype(np.float32).T, [], [], []
        for number, shard in enumerate(self._shards):
            own = self._quantised(centre, number)
            for start in range(0, len(own), _BLOCK):
                similarity = own[start : start + _BLOCK] @ rows
                nearest.append(similarity.argmax(axis=1))
                coverage.append(np.maximum(similarity.max(axis=1), 0.0))
            positions.append(shard.positions)
        return Nearest(np.concatenate(positions), np.concatenate(coverage), np.concatenate(nearest).astype(np.int64))

    def gains_of_shard(self, centre: Centre, picks: Compact, shard: ShardRows) -> NDArray[np.float64]:
        """What each row of any shard would gain on this worker's rows, after some picks."""
        candidates = quantise(_checked(self._embeddings, shard), centre)
        gains = np.zeros(len(candidates))
        for number, own in enumerate(self._shards):
            covered = _Covered(candidates, self._quantised(centre, number), own.mass)
            covered.coverage[:] = _coverage(covered.rows, picks)
            gains += covered.gains()
        return gains

    def _read(self, shard: int) -> NDArray[np.float32]:
        if shard not in self._vectors:
            self._vectors[shard] = _checked(self._embeddings, self._shards[shard])
        return self._vectors[shard]

    def _quantised(self, centre: Centre, shard: int) -> Rows:
        if shard not in self._rows:
            self._rows[shard] = quantise(self._read(shard), centre)
            del self._vectors[shard]
        return self._rows[shard]


class _Covered:
    """Rows of a shard, covered by some of a set of candidates."""

    def __init__(self, candidates: Rows, rows: Rows, mass: NDArray[np.float64]) -> None:
        self.rows, self.coverage = rows, np.zeros(len(rows), np.float32)
        self._similarity = DotSimilarity(candidates, rows, clipped=False)
        self._passes = Passes(self._similarity, mass)

    def cover(self, candidates: list[int]) -> None:
        """Raise the coverage by candidates."""
        for candidate in candidates:
            row = self._similarity.block(np.array([candidate]), slice(None))[0]
            np.maximum(self.coverage, row, out=self.coverage)

    def gains(self) -> NDArray[np.float64]:
        """What each candidate would add to the coverage."""
        return self._passes.all_gains(self.coverage)


def _coverage(rows: Rows, picks: Compact) -> NDArray[np.float32]:
    """(n,) similarity of each row to the nearest of some picks, not negative."""
    coverage, columns = np.zeros(len(rows), np.float32), picks.astype(np.float32).T
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        coverage[block] = (rows[block] @ columns).max(axis=1, initial=0.0)
    return coverage


def _checked(embeddings: Embeddings, shard: ShardRows) -> NDArray[np.float32]:
    vectors = embeddings.read(shard.buckets, shard.text_hash)
    try:
        require_directions(vectors, shard.ids)
    except ValueError as error:
        raise BenchcoreError(str(error), where="embeddings", mend=_MEND) from None
    return vectors


def _compact(rows: Rows) -> Compact:
    return rows.astype(np.int16)
