"""How a pool is cut into shards: by the buckets of its texts, never by the number of workers."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.registry.identity import bucket

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Shard:
    """A random part of the pool: the prompts whose texts fall into a set of buckets.

    Attributes:
        buckets: partitions of the embeddings table.
        positions: (n,) int64 positions in the pool, ascending.
    """

    buckets: tuple[int, ...]
    positions: NDArray[np.int64]


def cut(text_hash: NDArray[np.str_], shard_size: int, buckets: int) -> tuple[Shard, ...]:
    """Cut a pool into shards of about `shard_size` prompts.

    A shard is a set of buckets, so there are no more shards than buckets; then shards are larger, and a log line says
    so. Equal texts stay together.

    Args:
        text_hash: (n,) of the pool, not empty.
        shard_size: prompts in a shard.
        buckets: of the embeddings table.
    """
    wanted = -(-len(text_hash) // shard_size)
    number = min(wanted, buckets)
    if number < wanted:
        log.warning(
            "%d shards of %d prompts were asked for; the registry's %d buckets allow %d, of about %d prompts",
            wanted, shard_size, buckets, number, len(text_hash) // number,
        )  # fmt: skip
    of_bucket = np.arange(buckets) * number // buckets
    in_bucket = np.array([bucket(str(hashed), buckets) for hashed in text_hash])
    in_shard = of_bucket[in_bucket]
    shards = (
        Shard(tuple(np.flatnonzero(of_bucket == shard).tolist()), np.flatnonzero(in_shard == shard))
        for shard in range(number)
    )
    return tuple(shard for shard in shards if shard.positions.size)
