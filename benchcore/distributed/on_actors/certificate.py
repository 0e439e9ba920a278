"""An actor's part of a certificate: what prompts would still gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.coverage import nearest_pick
from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards, ShardRows
from benchcore.distributed.on_actors.query import Query, window
from benchcore.submodular.pairs.passes import Passes
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.capped import CappedSimilarity
from benchcore.submodular.similarities.dot import DotSimilarity


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that stand for all rows.

    Attributes:
        rows: (m, d) quantised.
        coverage: (m,) by the picks, whole numbers, as far as it counts.
        high: (m,) up to what coverage counts.
        weights: (m,) whole numbers, by which their gains count.
    """

    rows: Compact
    coverage: NDArray[np.float32]
    high: NDArray[np.float32] | None
    weights: NDArray[np.float64]


def gains_of_shard(
    held: HeldShards, centre: Centre, picks: Compact, query: Query | None, shard: ShardRows
) -> NDArray[np.float64]:
    """(n,) what each row of any shard would gain on the actor's rows, after some picks."""
    candidates = held.foreign_rows(shard, centre)
    gains = np.zeros(len(candidates))
    for number, own in held.shards.items():
        rows = held.rows(number, centre)
        (coverage, _), limits = nearest_pick(rows, picks), window(held, number, centre, query)
        if limits is None:
            gains += _gains(candidates, rows, own.mass, coverage)
        else:
            gains += _gains(candidates, rows, own.mass, limits.clip(coverage), limits.high)
    return gains


def sampled_gains(held: HeldShards, shard: int, centre: Centre, sample: Sample) -> NDArray[np.float64]:
    """(n,) what each row of one of the actor's shards would gain on sampled rows, in their weights."""
    represented = sample.rows.astype(np.float32)
    return _gains(held.rows(shard, centre), represented, sample.weights, sample.coverage, sample.high)


def _gains(
    candidates: Rows,
    rows: Rows,
    mass: NDArray[np.float64],
    coverage: NDArray[np.float32],
    high: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    similarity = DotSimilarity(candidates, rows, clipped=False)
    return Passes(similarity if high is None else CappedSimilarity(similarity, high), mass).all_gains(coverage)
