"""The local round: the exact greedy on a shard's own rows."""

from __future__ import annotations

from dataclasses import dataclass

from benchcore.distributed.constraints import Rules
from benchcore.distributed.on_actors.coverage import nearest_pick
from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards
from benchcore.distributed.on_actors.query import Query, window
from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.knapsack import knapsack_greedy
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.similarities.capped import CappedSimilarity
from benchcore.submodular.similarities.dot import DotSimilarity


@dataclass(frozen=True, eq=False)
class Given:
    """Picks that every shard starts from.

    Attributes:
        rows: (g, d) their quantised rows.
        rules: what picks keep to, these among them.
        query: bounds what coverage counts; None without one.
    """

    rows: Compact
    rules: Rules
    query: Query | None = None


def local_greedy(held: HeldShards, shard: int, centre: Centre, given: Given) -> Greedy:
    """Greedy picks of one of the actor's shards beyond the given ones, as pool positions."""
    own, rows = held.shards[shard], held.rows(shard, centre)
    (floor, _), similarity = nearest_pick(rows, given.rows), DotSimilarity(rows, clipped=False)
    limits = window(held, shard, centre, given.query)
    if limits is not None:
        floor = limits.clip(floor)
    capped = CappedSimilarity(similarity, limits.high) if limits is not None and limits.caps else similarity
    objective = FacilityLocation(capped, own.mass, floor, memory=held.memory)

    def constraint() -> Constraint:
        return given.rules.constraint(own.turns, own.available, own.costs)

    if constraint().costs is None:
        picks = lazy_greedy(objective, constraint(), landmarks=False)
    else:
        picks = knapsack_greedy(objective, constraint, landmarks=False)
    return Greedy(own.positions[picks.order], picks.gains)
