"""Reading the vectors of a shard from the pinned version of the embeddings table, and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry
from benchcore.registry.tables import dataset


@dataclass(frozen=True)
class Embeddings:
    """One encoder's vectors in a registry.

    Attributes:
        registry: whose table is read.
        version: of the table; None while there is no table.
        encoder: fingerprint, a partition of the table.
    """

    registry: Registry
    version: int | None
    encoder: str

    def dimension(self) -> int:
        """Length of the vectors.

        Raises:
            BenchcoreError: the encoder has no vectors.
        """
        table = dataset(self.registry, "embeddings", self.version)
        found = table.head(1, columns=["dimension"], filter=pc.field("encoder") == self.encoder)
        if found.num_rows == 0:
            raise BenchcoreError(
                f"no vectors of encoder {self.encoder}", where=self.registry.uri("embeddings"), mend=_EMBED
            )
        return int(found["dimension"][0].as_py())

    def lacking(self, text_hash: NDArray[np.str_]) -> int:
        """How many of some texts have no vector."""
        mine = pc.field("encoder") == self.encoder
        stored = dataset(self.registry, "embeddings", self.version).to_table(["text_hash"], filter=mine)["text_hash"]
        return int(pc.index_in(text_hash.tolist(), value_set=stored.combine_chunks()).null_count)

    def read(self, buckets: tuple[int, ...], text_hash: NDArray[np.str_]) -> NDArray[np.float32]:
        """The vectors of texts that lie in some buckets.

        Args:
            buckets: partitions to read.
            text_hash: (n,) of the texts; some may be equal.

        Returns:
            (n, d), in the order of `text_hash`.

        Raises:
            BenchcoreError: texts have no vector, or vectors differ in length.
        """
        wanted = (pc.field("encoder") == self.encoder) & pc.field("bucket").isin(list(buckets))
        table = dataset(self.registry, "embeddings", self.version).to_table(["text_hash", "vector"], filter=wanted)
        rows = pc.index_in(text_hash.tolist(), value_set=table["text_hash"].combine_chunks())
        if rows.null_count:
            raise BenchcoreError(
                f"{rows.null_count} of {len(text_hash)} texts have no vector in buckets {buckets[0]}-{buckets[-1]}",
                where=self.registry.uri("embeddings"),
                mend=f"{_EMBED} registry.buckets must be what it was when the table was written.",
            )
        vectors = table["vector"].take(rows).combine_chunks()
        numbers = vectors.flatten().to_numpy(zero_copy_only=False)
        if numbers.size % len(text_hash) or len(pc.unique(pc.list_value_length(vectors))) != 1:
            raise BenchcoreError("vectors differ in length", where=self.registry.uri("embeddings"), mend=_EMBED)
        return np.asarray(numbers, np.float32).reshape(len(text_hash), -1)


_EMBED = "Run `benchcore embed` first."
