"""The shards that one Ray actor holds, and their rows.

No call of an actor relies on an earlier one: each brings all that it needs beside the vectors (which the actor reads
itself), and what an actor keeps is only there to save time. So Ray may start a dead actor again, on any node, and
repeat its calls, and the answers stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.vectors import Embeddings, directed
from benchcore.submodular.quantise import Rows, quantise

Centre = NDArray[np.float64]
Compact = NDArray[np.int16]  # quantised rows on their way between processes: half the bytes, the same numbers


@dataclass(frozen=True, eq=False)
class ShardRows:
    """What an actor is told about a shard: everything but its vectors.

    Attributes:
        buckets: partitions of the embeddings table.
        positions: (n,) in the pool, ascending.
        ids: (n,) prompt ids as bytes (a quarter of what numpy takes for text), for errors.
        text_hash: (n,) texts of the rows, as bytes.
        mass: (n,) whole numbers.
        turns: (n,) group numbers for balanced rounds.
        available: (n,) whether a row may be picked.
        costs: (n,) their prices, where there is a budget.
    """

    buckets: tuple[int, ...]
    positions: NDArray[np.int64]
    ids: NDArray[np.bytes_]
    text_hash: NDArray[np.bytes_]
    mass: NDArray[np.float64]
    turns: NDArray[np.int64]
    available: NDArray[np.bool_]
    costs: NDArray[np.float64] | None = None


class HeldShards:
    """The shards of one actor, by their numbers in the plan.

    Args:
        embeddings: where the vectors lie.
        shards: those that are this actor's.
        memory: bytes that a round may keep beside the rows.

    Attributes:
        shards: as given.
        memory: as given.
        kept: what rounds keep between calls to save time, by round.
    """

    def __init__(self, embeddings: Embeddings, shards: Mapping[int, ShardRows], memory: int) -> None:
        self.shards, self.memory = dict(shards), memory
        self.kept: dict[str, Any] = {}
        self._embeddings = embeddings
        self._vectors: dict[int, NDArray[np.float32]] = {}  # until they are quantised
        self._rows: dict[int, Rows] = {}

    def vectors(self, shard: int) -> NDArray[np.float32]:
        """(n, d) the vectors of one of the shards, as they are stored.

        Raises:
            BenchcoreError: a vector is missing, all zeros or not finite; names the prompts.
        """
        if shard not in self._vectors:
            self._vectors[shard] = checked_vectors(self._embeddings, self.shards[shard])
        return self._vectors[shard]

    def rows(self, shard: int, centre: Centre) -> Rows:
        """(n, d + 1) the quantised rows of one of the shards; kept, for there is one centre in an actor's life."""
        if shard not in self._rows:
            self._rows[shard] = quantise(self.vectors(shard), centre)
            del self._vectors[shard]
        return self._rows[shard]

    def foreign_rows(self, shard: ShardRows, centre: Centre) -> Rows:
        """(n, d + 1) the quantised rows of any shard, read for this once."""
        return quantise(checked_vectors(self._embeddings, shard), centre)


def checked_vectors(embeddings: Embeddings, shard: ShardRows) -> NDArray[np.float32]:
    """The vectors of a shard, all with a direction.

    Raises:
        BenchcoreError: a vector is missing, all zeros or not finite; names the prompts.
    """
    return directed(embeddings.read(shard.buckets, shard.text_hash), np.char.decode(shard.ids))


def compact(rows: Rows) -> Compact:
    """Quantised rows for the way between processes."""
    return rows.astype(np.int16)
