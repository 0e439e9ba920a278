"""Sets of millions of keys in eight bytes each: sorted 64-bit hashes, which hold for one process.

Two of ten million keys share a hash by chance once in 400,000 sets, so what is found is looked at again by the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Hashes = NDArray[np.int64]


def hashes(batch: pa.RecordBatch, columns: Sequence[str]) -> Hashes:
    """(n,) hash of each row's values in some columns."""
    values: Iterator[object] = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
    return np.fromiter(map(hash, values), np.int64, len(batch))


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """A set of keys.

    Attributes:
        sorted: (n,) hashes, ascending; as many of one as rows have it.
    """

    sorted: Hashes

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], columns: Sequence[str]) -> Fingerprints:
        """The keys of rows that are read a batch at a time."""
        parts = [hashes(batch, columns) for batch in batches]
        joined = np.concatenate(parts) if parts else np.empty(0, np.int64)
        joined.sort()
        return cls(joined)

    def has(self, wanted: Hashes) -> NDArray[np.bool_]:
        """(n,) whether each key is in the set."""
        return self.places(wanted) >= 0

    def places(self, wanted: Hashes) -> NDArray[np.int64]:
        """(n,) the place of each key among the sorted ones, -1 for one that is not there."""
        if not len(self.sorted):
            return np.full(len(wanted), -1, np.int64)
        places = np.minimum(np.searchsorted(self.sorted, wanted), len(self.sorted) - 1)
        return np.where(self.sorted[places] == wanted, places, -1)

    def repeated(self) -> Fingerprints:
        """The keys that several rows have, each once."""
        return Fingerprints(np.unique(self.sorted[1:][self.sorted[1:] == self.sorted[:-1]]))
