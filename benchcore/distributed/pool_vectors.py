"""The vectors of a pool in one process: a part at a time, so that a pool of any size needs the memory of one part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.pool import Pool
from benchcore.distributed.shards import Shard
from benchcore.distributed.vectors import Embeddings, directed
from benchcore.submodular.quantise import centre_of, mass_sums, mean_exponent

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PoolVectors:
    """The vectors by which coverage is measured.

    Attributes:
        stored: where they lie.
        pool: the prompts.
        parts: of the pool; any.
    """

    stored: Embeddings
    pool: Pool
    parts: tuple[Shard, ...]

    def read(self) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Pool positions of each part, and (n, d) their vectors.

        Raises:
            BenchcoreError: a vector is missing, all zeros or not finite; names the prompts.
        """
        for part in self.parts:
            vectors = self.stored.read(part.buckets, self.pool.text_hash[part.positions])
            yield part.positions, directed(vectors, self.pool.prompt_id[part.positions])

    def centre(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """(d,) the mean by whole-number mass, with the bits of `mass_weighted_mean`.

        Args:
            mass: (n,) of the pool.
        """
        exponent = mean_exponent(max(float(np.max(np.abs(vectors))) for _, vectors in self.read()))
        sums = [mass_sums(vectors, mass[positions], exponent) for positions, vectors in self.read()]
        return centre_of(np.sum(sums, axis=0, dtype=np.int64), float(mass.sum()), exponent)

    def at(self, wanted: NDArray[np.int64]) -> Vectors:
        """(k, d) the vectors of some pool positions, in their order; few enough for one process."""
        found = np.zeros((len(wanted), self.stored.dimension()), np.float32)
        for positions, vectors in self.read():
            mine = np.isin(wanted, positions)
            found[mine] = vectors[np.searchsorted(positions, wanted[mine])]
        return found
