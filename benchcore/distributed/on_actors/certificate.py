"""An actor's part of a certificate: what prompts would still gain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.coverage import nearest_similarity
from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards, ShardRows
from benchcore.distributed.on_actors.merging import Covered


def gains_of_shard(held: HeldShards, centre: Centre, picks: Compact, shard: ShardRows) -> NDArray[np.float64]:
    """(n,) what each row of any shard would gain on the actor's rows, after some picks."""
    candidates = held.foreign_rows(shard, centre)
    gains = np.zeros(len(candidates))
    for number, own in held.shards.items():
        covered = Covered(candidates, held.rows(number, centre), own.mass)
        covered.coverage[:] = nearest_similarity(covered.rows, picks)
        gains += covered.gains()
    return gains
