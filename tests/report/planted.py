"""Registries with a coreset whose prompts have vectors, written without engines, as large as asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchcore.registry.identity import text_hash
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing
from benchcore.report.ground import Ground
from benchcore.submodular.quantise import UNIT, quantise
from tests.registry.stored import prompt, store_coreset

ENCODER = "f"
CORESET = "abc"
WORDS = ("river", "prime", "verb", "cell", "treaty", "angle", "market", "poem", "force", "loop", "acid", "clause")


def clustered(n: int, d: int, clusters: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(n, d) directions around as many centres, and which one each is from; clusters differ in width."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(clusters, d)) / np.sqrt(d)
    member = np.sort(random.integers(clusters, size=n))
    width = random.uniform(0.2, 0.9, clusters)[member, None]
    return (centres[member] + width * random.normal(size=(n, d)) / np.sqrt(d)).astype(np.float32), member


def saying(number: int, cluster: int) -> str:
    """Some words, of which a cluster has its favourites."""
    random = np.random.default_rng(number)
    chosen = random.integers(len(WORDS), size=40) * (random.random(40) < 0.5)
    return " ".join(f"{WORDS[(word + cluster) % len(WORDS)]}{cluster % 97}" for word in chosen) + f" {number}?"


def plant(
    registry: Registry,
    rows: Sequence[dict[str, Any]],
    vectors: NDArray[np.float32],
    picks: Sequence[int],
    **manifest: Any,
) -> Ground:
    """Store prompts with vectors, and a coreset of some of them whose benchmarks have equal shares.

    Args:
        registry: to write to.
        rows: of the table `prompts`.
        vectors: (n, d) of the rows.
        picks: numbers of rows, by rank.
        manifest: what differs from that of `store_coreset`.
    """
    hashes = [text_hash(row["prompt"]) for row in rows]
    append_missing(registry, "prompts", pa.Table.from_pylist(list(rows), SCHEMAS["prompts"]))
    append_missing(registry, "embeddings", _embeddings(hashes, vectors))
    quantised = quantise(vectors, np.zeros(vectors.shape[1]))
    covered = np.maximum((quantised @ quantised[list(picks)].T).max(axis=1), 0.0)
    names = np.array([row["benchmark"] for row in rows])
    order = np.argsort([row["prompt_id"] for row in rows])
    listed, sizes = np.unique(names, return_counts=True)
    coverage = [
        {
            "benchmark": str(name),
            "category": next(row["category"] for row in rows if row["benchmark"] == name),
            "prompts": int(size),
            "distinct": int(size),
            "picks": sum(rows[pick]["benchmark"] == name for pick in picks),
            "mass": 1 / len(listed),
            "coverage": float(covered[names == name].mean() / UNIT),
            "borrowed": False,
            "truncated": 0,
            "unknown_language": 0,
        }
        for name, size in zip(listed, sizes, strict=True)
    ]
    settings = {
        "coverage": coverage,
        "centre": [0.0] * vectors.shape[1],
        "table_versions": {"prompts": 0, "embeddings": 0},
    }
    store_coreset(registry, CORESET, [rows[pick] for pick in picks], **(settings | manifest))
    return Ground(
        prompt_id=np.array([rows[row]["prompt_id"] for row in order]),
        text_hash=np.array([hashes[row] for row in order]),
        benchmark=names[order],
        copies=np.ones(len(rows), np.int64),
        encoder=ENCODER,
    )


def plant_clusters(registry: Registry, n: int, d: int, *, clusters: int, k: int, benchmarks: int) -> Ground:
    """Plant n prompts in clusters, each benchmark in a few of them, with picks spread over all."""
    vectors, member = clustered(n, d, clusters)
    rows = []
    for number, cluster in enumerate(member.tolist()):
        benchmark = cluster % benchmarks
        values = {"prompt": saying(number, cluster), "category": f"category {benchmark % 10}"}
        rows.append(prompt(f"benchmark {benchmark}", number, **values))
    return plant(registry, rows, vectors, np.linspace(0, n - 1, k).astype(int).tolist())


def _embeddings(hashes: Sequence[str], vectors: NDArray[np.float32]) -> pa.Table:
    """One row for each distinct text."""
    _, first = np.unique(hashes, return_index=True)
    d = vectors.shape[1]
    flat, offsets = pa.array(vectors[first].ravel()), pa.array(np.arange(len(first) + 1, dtype=np.int32) * d)
    return pa.table(
        {
            "text_hash": [hashes[row] for row in first],
            "encoder": pa.repeat(ENCODER, len(first)),
            "dimension": pa.repeat(pa.scalar(d, pa.int32()), len(first)),
            "vector": pa.ListArray.from_arrays(offsets, flat),
            "truncated": pa.repeat(False, len(first)),
            "bucket": pa.repeat(pa.scalar(0, pa.int32()), len(first)),
        },
        schema=SCHEMAS["embeddings"],
    )
