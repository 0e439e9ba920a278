"""Methods that look at all rows at once: one process reads the blocks that they use and picks from the whole pool."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchcore.config import Config
from benchcore.distributed import checkpoints
from benchcore.distributed.identity import Identity
from benchcore.distributed.pool import Block, Pool
from benchcore.distributed.pool_vectors import PoolVectors
from benchcore.distributed.shards import Shard, cut
from benchcore.distributed.vectors import Embeddings, by_benchmark, directed
from benchcore.distributed.ways import blocks_of, method_of
from benchcore.errors import BenchcoreError
from benchcore.machine import free_memory
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued
from benchcore.progress import waiting
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.pairs.threads import single_threaded_blas

log = logging.getLogger(__name__)

_BASE_BYTES = 192 * 1024**2  # blocks of the kernel, and what reading takes
_COPIES = 8  # of the blocks in single precision, in which a method may hold them at its peak
_READ_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class WholePool:
    """A pool with the blocks of features that a method looks at.

    Attributes:
        config: names the method.
        registry: holds the blocks.
        pool: the selectable prompts.
        version: of the table `embeddings`.
    """

    config: Config
    registry: Registry
    pool: Pool
    version: int | None

    def pick(self, problem: Problem, identity: Identity) -> Selection:
        """Pick `problem.k` prompts; a selection that was finished before is read, and of a nested method a part of it.

        Raises:
            UsageError: the method cannot pick from a registry.
            BenchcoreError: blocks are missing or unusable, or memory does not suffice.
        """
        name = self.config.select.method
        entry = method_of(name)
        if not entry.needs:
            return entry(problem)
        features = self._features(problem.k)
        contents = {block: hashlib.sha256(rows.tobytes()).hexdigest() for block, rows in features.items()}
        named = {**identity.semantic, "k": None} if entry.nested else identity.semantic
        key = digest("whole", named, identity.input_digest, contents)
        known = checkpoints.load(self.registry, key)
        if known is not None and len(known.order) >= problem.k:
            log.info("select: the picks of %s are there already", name)
            return unvalued(known.order[: problem.k])
        with waiting(f"{name} on {self.pool.n:,} prompts"), single_threaded_blas():
            found = entry(replace(problem, features=features))
        if found.inclusion_probabilities is None:
            checkpoints.save(self.registry, key, Greedy(found.indices, np.zeros(len(found.indices))))
        return found

    def vectors(self) -> PoolVectors:
        """The vectors by which coverage is measured, to be read a part at a time.

        Raises:
            BenchcoreError: some are missing.
        """
        stored = self._stored("embedding", self.pool.embedding)
        return PoolVectors(stored, self.pool, self._parts(self.pool.text_hash))

    def stored(self) -> dict[str, Embeddings]:
        """Where the blocks that the method looks at lie, by name.

        Raises:
            BenchcoreError: prompts lack a block.
        """
        blocks = blocks_of(self.config.select.method, self.pool)
        return {name: self._stored(name, block) for name, block in blocks.items()}

    def _features(self, k: int) -> dict[str, NDArray[np.float32]]:
        stored = self.stored()
        self._require_memory(sum(vectors.dimension() for vectors in stored.values()), k, self.config.select.method)
        features = {name: self._read(name, vectors) for name, vectors in stored.items()}
        directed(features["embedding"], self.pool.prompt_id)
        return features

    def _stored(self, name: str, block: Block) -> Embeddings:
        vectors = Embeddings(self.registry, self.version, block.encoder)
        lacking = vectors.lacking(self._texts(name))
        if lacking.any():
            named = by_benchmark(self.pool.benchmark[lacking].tolist())
            raise BenchcoreError(
                f"{lacking.sum():,} of {self.pool.n:,} prompts lack the block '{name}' ({named})",
                where=self.registry.root,
                mend="Run `benchcore embed CONF`; it computes only what is missing.",
            )
        return vectors

    def _read(self, name: str, vectors: Embeddings) -> NDArray[np.float32]:
        texts = self._texts(name)
        rows = np.empty((len(texts), vectors.dimension()), np.float32)
        for part in self._parts(texts):
            rows[part.positions] = vectors.read(part.buckets, texts[part.positions])
        return rows

    def _parts(self, texts: NDArray[np.str_]) -> tuple[Shard, ...]:
        buckets = self.config.registry.buckets
        return cut(texts, max(_READ_AT_ONCE, -(-len(texts) // buckets)), buckets)

    def _texts(self, name: str) -> NDArray[np.str_]:
        return self.pool.text_hash if name == "embedding" else self.pool.said

    def _require_memory(self, dimensions: int, k: int, what: str) -> None:
        needed, free = bytes_needed(self.pool.n, dimensions, k), free_memory()
        if free is not None and needed > free:
            raise BenchcoreError(
                f"{what} on {self.pool.n:,} prompts in one process needs"
                f" {needed / 2**30:.1f} GiB of memory, {free / 2**30:.1f} GiB are free",
                where="select",
                mend="Filter prompts out, use a larger machine, or take facility_location, which runs on shards.",
            )


def bytes_needed(n: int, dimensions: int, k: int) -> int:
    """Memory of a selection from a whole pool at its peak.

    Args:
        n: prompts.
        dimensions: of all blocks together.
        k: picks, of which each holds its similarity to every prompt.
    """
    return _BASE_BYTES + n * (4 * dimensions * _COPIES + 12 * k)
