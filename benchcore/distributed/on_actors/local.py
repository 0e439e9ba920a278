"""The local round: the exact greedy on a shard's own rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.coverage import nearest_similarity
from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.similarities.dot import DotSimilarity


@dataclass(frozen=True, eq=False)
class Given:
    """Picks that every shard starts from.

    Attributes:
        rows: (g, d) their quantised rows.
        counts: (turns,) how many of them each group has.
    """

    rows: Compact
    counts: NDArray[np.int64]


def local_greedy(held: HeldShards, shard: int, centre: Centre, depth: int, given: Given) -> Greedy:
    """Greedy picks of one of the actor's shards beyond the given ones, as pool positions."""
    own, rows = held.shards[shard], held.rows(shard, centre)
    floor = nearest_similarity(rows, given.rows)
    objective = FacilityLocation(DotSimilarity(rows, clipped=False), own.mass, floor, memory=held.memory)
    picks = lazy_greedy(objective, Rounds(own.turns, own.available, depth, given.counts), landmarks=False)
    return Greedy(own.positions[picks.order], picks.gains)
