"""Prompts that cannot be selected, since their text has no vector yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchcore.config import Config
from benchcore.distributed.vectors import by_benchmark
from benchcore.registry.checks.everything import Check
from benchcore.registry.checks.finding import Finding
from benchcore.registry.checks.fingerprints import Fingerprints, hashes
from benchcore.registry.checks.snapshot import Snapshot

_TEXT = ("text_hash",)
_ROWS = 1024  # prompts can be long
_MEND = "Run `benchcore embed CONF`; it encodes only what is missing."


def missing_vectors(config: Config) -> Check:
    """The check of the encoder, the text and the features that a configuration names."""

    def look(snapshot: Snapshot) -> Iterator[Finding]:
        from benchcore.embedding.features import feature_fingerprint

        features = {f"block '{name}'": feature_fingerprint(name, config.embed) for name in config.embed.features}
        vectors = {"vector": _encoder(config, snapshot)}
        if config.embed.encoder.vectors is None:
            yield from _lacking(config, snapshot, vectors | features)
            return
        yield from _lacking(config, snapshot, vectors)
        yield from _lacking(config, snapshot, features, said=True)

    return look


def _encoder(config: Config, snapshot: Snapshot) -> str | None:
    """The fingerprint of the encoder; None before anything was embedded with it."""
    from benchcore.embedding.encoder import base_fingerprint, fingerprint_with
    from benchcore.embedding.precision import decided

    if config.embed.encoder.vectors is not None:
        return base_fingerprint(config.embed)
    precision = decided(config.embed, snapshot.registry)
    return None if precision is None else fingerprint_with(config.embed, precision)


def _lacking(
    config: Config, snapshot: Snapshot, encoders: Mapping[str, str | None], *, said: bool = False
) -> Iterator[Finding]:
    """Count the prompts, by benchmark, whose text has no row of an encoder; texts are rendered a batch at a time."""
    from benchcore.embedding.text import Renderer

    renderer = Renderer(config.embed, said=said)
    stored = {name: _stored(snapshot, encoder) for name, encoder in encoders.items()}
    lacking = {name: Counter[str]() for name in encoders}
    columns, current = tuple(dict.fromkeys((*renderer.columns, "benchmark"))), pc.field("retired_at").is_null()
    for batch in snapshot.batches("prompts", columns, current, _ROWS) if encoders else ():
        texts = hashes(pa.RecordBatch.from_pydict({"text_hash": renderer.hashes(batch)}), _TEXT)
        benchmarks = np.array(batch.column("benchmark").to_pylist(), object)
        for name, known in stored.items():
            lacking[name].update(benchmarks[~known.has(texts)].tolist())
    for name, counts in lacking.items():
        if counts:
            what = f"prompts whose text has no {name} ({by_benchmark(counts.elements())})"
            yield Finding("vectors", "broken", "embeddings", what, counts.total(), mend=_MEND)


def _stored(snapshot: Snapshot, encoder: str | None) -> Fingerprints:
    if encoder is None:
        return Fingerprints(np.empty(0, np.int64))
    return Fingerprints.of(snapshot.batches("embeddings", _TEXT, pc.field("encoder") == encoder), _TEXT)
