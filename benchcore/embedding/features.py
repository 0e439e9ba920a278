"""Features of a text besides its vector, as encoders of their own: their names, and the texts that lack them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from benchcore.config import EmbedSection
from benchcore.embedding.encoder import Encoded
from benchcore.embedding.spool import Spool
from benchcore.embedding.staging import rows_of
from benchcore.embedding.table import known_texts
from benchcore.methods.text_features import TEXT_FEATURES
from benchcore.progress import progress
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry

# Character n-grams of a chunk take some thirty times its bytes while they are counted.
_CHUNK_TEXTS, _CHUNK_BYTES = 1024, 1024**2


def feature_description(name: str, embed: EmbedSection) -> dict[str, Any]:
    """Say what a block of features is: all that its fingerprint is made of."""
    version = TEXT_FEATURES[name].version
    return {"kind": "features", "name": name, "version": version, "text": embed.text, "dtype": "float32"}


def feature_fingerprint(name: str, embed: EmbedSection) -> str:
    """Name a block of features: the `encoder` of the table `embeddings`."""
    return digest("encoder", feature_description(name, embed))


class LackingFeatures:
    """Distinct texts that lack a block of features, on disk; a context manager.

    They are computed in this process and need neither engine nor staging: a second for thousands of texts.

    Args:
        embed: which blocks, of which texts.
        registry: whose table is looked at.
        buckets: of the table.

    Attributes:
        encoders: fingerprint of each block.
        known: by fingerprint, hashes of the texts that have it.
    """

    def __init__(self, embed: EmbedSection, registry: Registry, buckets: int) -> None:
        self._buckets = buckets
        self.encoders = {name: feature_fingerprint(name, embed) for name in embed.features}
        self.known = {encoder: known_texts(registry, encoder, buckets) for encoder in self.encoders.values()}
        self._texts = Spool()

    def offer(self, hashed: str, text: str) -> None:
        """Keep a text if it lacks a block."""
        if any(hashed not in known for known in self.known.values()):
            self._texts.add(hashed, text)

    def __len__(self) -> int:
        return len(self._texts)

    def rows(self) -> Iterator[pa.Table]:
        """Rows of the table `embeddings`, of one block each, in the order of the texts' hashes."""
        if not len(self):
            return
        hashes = self._texts.hashes
        with progress("features", len(hashes), "texts") as advance:
            for chunk in _chunks(sorted(range(len(hashes)), key=hashes.__getitem__), self._texts.sizes):
                for name, encoder in self.encoders.items():
                    lacking = [row for row in chunk if hashes[row] not in self.known[encoder]]
                    if lacking:
                        block = TEXT_FEATURES[name].compute([self._texts.text(row) for row in lacking])
                        encoded = Encoded(block.astype(np.float32), np.zeros(len(lacking), bool), 0)
                        yield rows_of([hashes[row] for row in lacking], encoder, encoded, self._buckets)
                advance(len(chunk))

    def __enter__(self) -> LackingFeatures:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._texts.__exit__(kind, error, trace)


def _chunks(rows: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    chunk: list[int] = []
    weight = 0
    for row in rows:
        if chunk and (len(chunk) == _CHUNK_TEXTS or weight + sizes[row] > _CHUNK_BYTES):
            yield chunk
            chunk, weight = [], 0
        chunk.append(row)
        weight += sizes[row]
    if chunk:
        yield chunk
