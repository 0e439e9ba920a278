"""A query over shards: prompts that picks should be near to, or add to. It bounds what each row's coverage counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards
from benchcore.submodular.objectives.avoidance import avoidance_floor
from benchcore.submodular.objectives.query_information import coverage_caps
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.dot import DotSimilarity
from benchcore.submodular.similarities.similarity import TOP
from benchcore.submodular.similarities.window import Window


@dataclass(frozen=True, eq=False)
class Query:
    """Prompts that coverage is held against; it needs nothing but these, so that shards are asked as without a query.

    Attributes:
        rows: (q, d) quantised.
        toward: a row counts up to its likeness to the query (FLVMI); else only beyond it (the conditional gain).
        weight: eta or nu, by which the likeness is multiplied.
    """

    rows: Compact
    toward: bool
    weight: float


@dataclass(frozen=True, eq=False)
class Windows:
    """Between what the coverage of an actor's rows counts.

    Attributes:
        positions: (n,) in the pool.
        window: of these.
    """

    positions: NDArray[np.int64]
    window: Window


def window_of(rows: Rows, query: Query) -> Window:
    """Between what the coverage of some rows counts."""
    likeness = DotSimilarity(rows, query.rows.astype(np.float32))
    none = np.zeros(len(rows), np.float32)
    if query.toward:
        return Window(none, coverage_caps(likeness, query.weight))
    return Window(avoidance_floor(likeness, query.weight), none + np.float32(TOP))


def window(held: HeldShards, shard: int, centre: Centre, query: Query | None) -> Window | None:
    """That of one of the actor's shards; kept, for there is one query in an actor's life."""
    if query is None:
        return None
    known: dict[int, Window] = held.kept.setdefault("query", {})
    if shard not in known:
        known[shard] = window_of(held.rows(shard, centre), query)
    return known[shard]


def windows(held: HeldShards, centre: Centre, query: Query) -> Windows:
    """Those of all the actor's rows, for the driver."""
    found = [window_of(held.rows(number, centre), query) for number in held.shards]
    positions = np.concatenate([shard.positions for shard in held.shards.values()])
    low, high = (np.concatenate([getattr(each, side) for each in found]) for side in ("low", "high"))
    return Windows(positions, Window(low, high))
