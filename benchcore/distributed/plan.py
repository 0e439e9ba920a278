"""How a selection is cut into shards, and whether it fits: from the pool and the shard size, never from the workers."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError
from benchcore.registry.identity import bucket

log = logging.getLogger(__name__)

_FIRST_DEPTH, _DEPTH_FACTOR = 256, 4
_WORKER_BYTES = 320 * 1024**2  # interpreter, Ray, pyarrow and deltalake, and blocks of similarities


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


def depth(k: int, most: int) -> int:
    """How many picks are ordered when k are wanted: 256, 1,024, 4,096, ..., at most as many as there are.

    A bracket of k shares one order, so that a smaller k is its prefix whatever was asked for first.
    """
    deep = _FIRST_DEPTH
    while deep < k:
        deep *= _DEPTH_FACTOR
    return min(deep, most)


def bytes_needed(shards: tuple[Shard, ...], dimension: int, workers: int) -> int:
    """Memory of all workers together at their peak.

    A worker holds its rows (while they are quantised, twice) and, for the certificate, one other shard's.
    """
    rows = sum(len(shard.positions) for shard in shards)
    largest = max(len(shard.positions) for shard in shards)
    return workers * (_WORKER_BYTES + 3 * largest * dimension * 4) + 2 * rows * dimension * 4


def require_memory(needed: int, available: int, shards: tuple[Shard, ...], workers: int) -> None:
    """Refuse a plan that does not fit.

    Raises:
        BenchcoreError: with the figures, and what would fit.
    """
    if needed <= available:
        return
    rows = sum(len(shard.positions) for shard in shards)
    raise BenchcoreError(
        f"{rows:,} prompts in {len(shards)} shards on {workers} workers need {needed / 2**30:.1f} GiB of memory,"
        f" {available / 2**30:.1f} GiB are free",
        where="select",
        mend="Lower select.workers, lower select.shard_size, or use a larger cluster.",
    )
