"""From a configuration, a pool and a machine to the numbers that costs are counted from."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from benchcore.config import Config
from benchcore.distributed.costs import Rates, Round, Way, Work
from benchcore.distributed.plan import Merge, Plan, pairs, picks_before_lists
from benchcore.distributed.pool import Pool
from benchcore.distributed.vectors import Embeddings
from benchcore.distributed.ways import SHARDED, blocks_of, method_of
from benchcore.machine import usable_cores
from benchcore.registry.root import Registry

_ROWS, _NUMBERS = 4096, 384  # of the product that is timed: a few hundredths of a second a CPU
_TIMES = 3


def work_of(config: Config, pool: Pool, plan: Plan, *, depth: int, dimensions: Mapping[str, int]) -> Work:
    """A planned selection in numbers, on this machine's CPUs; see `on`.

    Args:
        config: the section `select`, and Ray's.
        pool: the selectable prompts.
        plan: of the selection.
        depth: picks that each shard and each merge orders.
        dimensions: by `dimensions_of`.
    """
    section = config.select
    work = Work(
        way=_way(section.method, plan),
        sizes=tuple(len(shard.positions) for shard in plan.shards),
        dimension=dimensions["embedding"],
        features=sum(dimensions.values()),
        k=section.k,
        depth=depth,
        levels=plan.levels,
        certificate=plan.certificate,
        merge_bytes=int(section.merge_gb * 2**30),
        pool_bytes=bytes_of(pool),
        workers=1,
        cpus=1,
        candidates=plan.candidates or 0,
        neighbours=plan.neighbours,
    )
    cpus = config.ray.num_cpus or usable_cores()
    return on(work, cpus if section.workers == "auto" else int(section.workers), cpus)


def on(work: Work, workers: int, cpus: int) -> Work:
    """The same selection by some workers, at most one a shard, on some CPUs."""
    return replace(work, workers=max(1, min(workers, len(work.sizes))), cpus=cpus)


def dimensions_of(config: Config, registry: Registry, pool: Pool, version: int | None) -> dict[str, int]:
    """Numbers a prompt of each block that the method looks at; the vectors, which measure coverage, always among them.

    Raises:
        UsageError: the method cannot pick from a registry.
        BenchcoreError: a block has no rows.
    """
    blocks = blocks_of(config.select.method, pool)
    return {name: Embeddings(registry, version, block.encoder).dimension() for name, block in blocks.items()}


def bytes_of(pool: Pool) -> int:
    """Bytes of a pool's columns."""
    columns = (getattr(pool, column.name) for column in fields(pool))
    return sum(column.nbytes for column in columns if isinstance(column, np.ndarray))


@functools.cache
def measured_rates() -> Rates:
    """Speeds, with that of products as it is on this machine, measured once a process; the others are constants."""
    rows = np.random.default_rng(0).normal(size=(_ROWS, _NUMBERS)).astype(np.float32)
    seconds = []
    for _ in range(_TIMES):
        started = time.perf_counter()
        rows @ rows.T
        seconds.append(time.perf_counter() - started)
    return Rates(multiply=_ROWS * _ROWS * _NUMBERS / min(seconds) / usable_cores())


def described(work: Work, expected: tuple[Round, ...]) -> dict[str, Any]:
    """A plan for the manifest and for scripts, JSON-able."""
    neighbours = {} if work.neighbours is None else {"neighbours": work.neighbours}
    return {
        "way": work.way,
        "shards": {"number": len(work.sizes), "smallest": min(work.sizes), "largest": work.largest},
        "depth": work.depth,
        "merges": [_level(work, level) for level in work.levels],
        "candidates": work.candidates or None,
        **neighbours,
        "certificate": work.certificate,
        "workers": work.workers,
        "cpus": work.cpus,
        "rounds": [
            {"round": found.name, "step": found.step, "seconds": round(found.seconds, 3), "memory": found.expected}
            for found in expected
        ],
    }


def _level(work: Work, level: tuple[Merge, ...]) -> dict[str, Any]:
    sizes = list(work.sizes)
    most = max(pairs(merge, sizes, work.depth) for merge in level)
    return {
        "merges": len(level),
        "candidates": max(_candidates(merge, sizes, work.depth) for merge in level),
        "picks_before_lists": 0 if work.neighbours is not None else picks_before_lists(most, work.merge_bytes),
    }


def _candidates(merge: Merge, sizes: list[int], depth: int) -> int:
    """At most: what is below may be fewer prompts than its parts could hand over."""
    return min(len(merge.children) * depth, sum(sizes[shard] for shard in merge.shards))


def _way(method: str, plan: Plan) -> Way:
    if method == SHARDED:
        return "shards"
    if not method_of(method).needs:
        return "labels"
    return "candidates" if plan.candidates else "whole pool"
