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
    found = [nearest_pick(held.rows(number, centre), picks) for number in held.shards]
    positions = np.concatenate([shard.positions for shard in held.shards.values()])
    return Nearest(positions, *(np.concatenate(column) for column in zip(*found, strict=True)))


def nearest_pick(rows: Rows, picks: Compact) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(n,) similarity of each row to the nearest of some picks, not negative, and (n,) which pick that is."""
    coverage, pick, columns = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.int64), picks.astype(np.float32).T
    for start in range(0, len(rows) if len(picks) else 0, _BLOCK):
        block = slice(start, start + _BLOCK)
        similarity = rows[block] @ columns
        pick[block] = similarity.argmax(axis=1)
        coverage[block] = np.maximum(similarity.max(axis=1), 0.0)
    return coverage, pick
