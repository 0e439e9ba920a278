"""What a selection would do and what it would take, without doing it: no engine is started, nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import psutil
from numpy.typing import NDArray

from benchcore.config import Config
from benchcore.distributed import checkpoints
from benchcore.distributed.certificate import says_more
from benchcore.distributed.costs import Round, Work, require_memory, rounds
from benchcore.distributed.job import Selecting, selecting
from benchcore.distributed.on_actors.centre import magnitude, sums
from benchcore.distributed.on_actors.held import HeldShards
from benchcore.distributed.order import inner_keys, shard_keys
from benchcore.distributed.pool import Pool
from benchcore.distributed.sizing import measured_rates
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.machine import free_memory
from benchcore.registry.manifests import find_manifest
from benchcore.registry.root import Registry
from benchcore.submodular.quantise import centre_of, mean_exponent


@dataclass(frozen=True)
class Finished:
    """Pieces of a selection that an earlier run has left.

    Attributes:
        coreset: whether the coreset is there.
        order: whether the order of picks is.
        shards: local rounds that are done.
        merges: inner merges that are done.
    """

    coreset: bool
    order: bool = False
    shards: int = 0
    merges: int = 0


@dataclass(frozen=True, eq=False)
class Preview:
    """A selection that was planned and not made.

    Attributes:
        coreset_id: of the coreset that there would be.
        prompts: copies included.
        work: its sizes.
        rounds: what each is expected to take.
        available: bytes that it may have on this machine, this process's own included; None where they are another's
            or unknown.
        finished: what need not be done again.
        refusal: why it would not start; None where it would.
    """

    coreset_id: str
    prompts: int
    work: Work
    rounds: tuple[Round, ...]
    available: int | None
    finished: Finished
    refusal: str | None

    @property
    def seconds(self) -> float:
        """Expected, of the whole selection from nothing."""
        return sum(found.seconds for found in self.rounds)

    @property
    def memory(self) -> int:
        """Bytes in the round that is expected to take most."""
        return max(found.expected for found in self.rounds)


def preview(config: Config, registry: Registry, pool: Pool, pinned: Mapping[str, int]) -> Preview:
    """Plan a selection, and look for what an earlier run has left of it.

    Args:
        config: the section `select`, and Ray's.
        registry: read only.
        pool: the selectable prompts.
        pinned: table -> version to read; `embeddings` among them.

    Raises:
        UsageError: as `job.select`.
        BenchcoreError: no plan fits `select.merge_gb`, or vectors are missing.
    """
    found = selecting(config, registry, pool)
    version = pinned.get("embeddings")
    work = found.work(version)
    available = None if config.ray.address else available_here()
    refusal = None
    if available is not None:
        try:
            require_memory(work, available)
        except BenchcoreError as error:
            refusal = str(error)
    return Preview(
        coreset_id=found.identity.coreset_id,
        prompts=int(pool.copies.sum()),
        work=work,
        rounds=rounds(work, measured_rates(), available),
        available=available,
        finished=_finished(found, registry, work, version),
        refusal=refusal,
    )


def available_here() -> int | None:
    """Bytes that a selection may have on this machine: those that are free, and this process's own."""
    free = free_memory()
    return None if free is None else free + int(psutil.Process().memory_info().rss)


def _finished(found: Selecting, registry: Registry, work: Work, version: int | None) -> Finished:
    known = find_manifest(registry, found.identity.coreset_id)
    coreset = known is not None and not says_more(found.plan.certificate, known.certificate)
    if coreset or work.way != "shards" or not _any(registry):
        return Finished(coreset)
    centre = _centre(found, version)
    key, local = found.identity.order_key(work.depth, centre), found.identity.local_key(work.depth, centre)
    return Finished(
        coreset,
        checkpoints.load(registry, key) is not None,
        sum(checkpoints.load(registry, name) is not None for name in shard_keys(local, found.plan)),
        sum(checkpoints.load(registry, name) is not None for name in inner_keys(key, found.plan)),
    )


def _any(registry: Registry) -> bool:
    """Whether there are checkpoints at all; to know whose they are takes the vectors."""
    return bool(registry.filesystem().exists(registry.sidecar("_checkpoints", "select")))


def _centre(found: Selecting, version: int | None) -> NDArray[np.float64]:
    """The centre, by which checkpoints are named, a shard at a time."""
    embeddings = Embeddings(found.registry, version, found.pool.encoder)
    shards = list(enumerate(found.shard_rows()))
    exponent = mean_exponent(max(magnitude(HeldShards(embeddings, {number: rows}, 0)) for number, rows in shards))
    parts = [sums(HeldShards(embeddings, {number: rows}, 0), exponent) for number, rows in shards]
    return centre_of(np.sum(parts, axis=0, dtype=np.int64), found.total_mass, exponent)
