"""How an actor's rows are covered by some picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards, compact
from benchcore.submodular.quantise import Rows

_BLOCK = 4096  # rows


@dataclass(frozen=True, eq=False)
class Nearest:
    """How the rows of an actor's shards are covered by some picks.

    Attributes:
        positions: (n,) in the pool.
        coverage: (n,) whole-number similarity to the nearest pick, not negative.
        pick: (n,) which pick that is; the earlier of equals.
    """

    positions: NDArray[np.int64]
    coverage: NDArray[np.float32]
    pick: NDArray[np.int64]


def rows_at(held: HeldShards, centre: Centre, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], Compact]:
    """Those of these pool positions that are in the actor's shards, and their quantised rows."""
    found: list[NDArray[np.int64]] = []
    rows: list[Compact] = []
    for number, shard in held.shards.items():
        mine = np.intersect1d(positions, shard.positions)
        found.append(mine)
        rows.append(compact(held.rows(number, centre)[np.searchsorted(shard.positions, mine)]))
    return np.concatenate(found), np.concatenate(rows)


def nearest(held: HeldShards, centre: Centre, picks: Compact) -> Nearest:
    """How the actor's rows are covered."""
    rows = picks.astype(np.float32).T
    positions, coverage, pick = [], [], []
    for number, shard in held.shards.items():
        own = held.rows(number, centre)
        for start in range(0, len(own), _BLOCK):
            similarity = own[start : start + _BLOCK] @ rows
            pick.append(similarity.argmax(axis=1))
            coverage.append(np.maximum(similarity.max(axis=1), 0.0))
        positions.append(shard.positions)
    return Nearest(np.concatenate(positions), np.concatenate(coverage), np.concatenate(pick).astype(np.int64))


def nearest_similarity(rows: Rows, picks: Compact) -> NDArray[np.float32]:
    """(n,) similarity of each row to the nearest of some picks, not negative."""
    coverage, columns = np.zeros(len(rows), np.float32), picks.astype(np.float32).T
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        coverage[block] = (rows[block] @ columns).max(axis=1, initial=0.0)
    return coverage
