"""Reading the vectors of a shard from the pinned version of the embeddings table, and nothing else of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry
from benchcore.registry.tables import dataset, whole_files
from benchcore.submodular.quantise import require_directions


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
            BenchcoreError: the encoder has no vectors, or its vectors differ in length.
        """
        found = self._stored(["dimension"], pc.field("encoder") == self.encoder)["dimension"].unique().to_pylist()
        if not found:
            raise BenchcoreError(f"no vectors of encoder {self.encoder}", where=self._where, mend=_EMBED)
        if len(found) > 1:
            raise self._mixed(found)
        return int(found[0])

    def lacking(self, text_hash: NDArray[np.str_]) -> NDArray[np.bool_]:
        """(n,) whether a text has no vector."""
        stored = self._stored(["text_hash"], pc.field("encoder") == self.encoder)["text_hash"]
        return np.asarray(pc.is_null(pc.index_in(pa.array(text_hash), value_set=stored)))

    def read(self, buckets: tuple[int, ...], text_hash: NDArray[np.str_] | NDArray[np.bytes_]) -> NDArray[np.float32]:
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
        table = self._stored(["text_hash", "vector"], wanted)
        rows = pc.index_in(pa.array(text_hash).cast(pa.string()), value_set=table["text_hash"].combine_chunks())
        if rows.null_count:
            raise BenchcoreError(
                f"{rows.null_count:,} of {len(text_hash):,} texts have no vector in buckets {buckets[0]}-{buckets[-1]}",
                where=self._where,
                mend=f"{_EMBED} registry.buckets must be what it was when the table was written.",
            )
        vectors = table["vector"].take(rows).combine_chunks()
        lengths = pc.unique(pc.list_value_length(vectors)).to_pylist()
        if len(lengths) != 1 or not lengths[0]:
            raise self._mixed(lengths)
        numbers = vectors.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(numbers, np.float32).reshape(len(text_hash), -1)

    @property
    def _where(self) -> str:
        return self.registry.uri("embeddings")

    def _stored(self, columns: list[str], where: pc.Expression) -> pa.Table:
        with whole_files(self.registry, "embeddings"):
            return dataset(self.registry, "embeddings", self.version).to_table(columns, filter=where)

    def _mixed(self, lengths: list[int | None]) -> BenchcoreError:
        named = " and ".join(f"{length or 0:,}" for length in sorted(lengths, key=lambda length: length or 0)[:5])
        mend = "Several models had one name: remove the table `embeddings`, and run `benchcore embed CONF`."
        return BenchcoreError(f"vectors of encoder {self.encoder} differ in length: {named}", self._where, mend)


def directed(vectors: NDArray[np.float32], ids: NDArray[np.str_]) -> NDArray[np.float32]:
    """The same vectors, all with a direction.

    Args:
        vectors: (n, d).
        ids: (n,) of the prompts.

    Raises:
        BenchcoreError: one is all zeros or not finite; names the prompts.
    """
    try:
        require_directions(vectors, ids)
    except ValueError as error:
        mend = "Something else wrote to the table: remove its folder, and run `benchcore embed CONF`."
        raise BenchcoreError(str(error), where="embeddings", mend=mend) from None
    return vectors


def by_benchmark(benchmarks: Iterable[str]) -> str:
    """Name the benchmarks that most of some prompts are of: `mmlu 120, gsm8k 7 and 2 more benchmarks`."""
    counts = Counter(benchmarks).most_common()
    more = f" and {len(counts) - 3} more benchmarks" if len(counts) > 3 else ""
    return ", ".join(f"{name} {count:,}" for name, count in counts[:3]) + more


_EMBED = "Run `benchcore embed CONF` first."
