"""An actor's part of the centre: exact sums, which add up to the same whatever the shards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.held import HeldShards
from benchcore.submodular.quantise import mass_sums


def magnitude(held: HeldShards) -> float:
    """Largest absolute value in the vectors.

    Raises:
        BenchcoreError: a vector is all zeros or not finite; names the prompts.
    """
    return max(float(np.max(np.abs(held.vectors(shard)))) for shard in held.shards)


def sums(held: HeldShards, exponent: int) -> NDArray[np.int64]:
    """(d,) exact sums of mass times vector."""
    parts = [mass_sums(held.vectors(number), shard.mass, exponent) for number, shard in held.shards.items()]
    total: NDArray[np.int64] = np.sum(parts, axis=0, dtype=np.int64)
    return total
