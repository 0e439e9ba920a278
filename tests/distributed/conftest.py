"""Small registries with an embeddings table, and the pools that go with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchcore.config import Config
from benchcore.distributed.pool import Block, Pool
from benchcore.registry.identity import bucket, digest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing

Made = tuple[Config, Registry, Pool]
WIDTHS = {"surface": 3, "ngrams": 5}


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Made]:
    """Make a configuration, a registry in a folder of its own and a pool; the same arguments give the same content."""

    def make(n: int = 120, seed: int = 0, name: str = "root", spoil: float | None = None, **select: Any) -> Made:
        registry, pool, vectors = Registry.at(tmp_path / name), *content(n, seed)
        if spoil is not None:
            vectors[7] = spoil
        append_missing(registry, "embeddings", embeddings(pool, vectors))
        config = Config.model_validate(
            {
                "registry": {"root": registry.root, "buckets": 16},
                "select": {"k": 20, "shard_size": 40, "workers": 1, "method": "facility_location", **select},
            }
        )
        return config, registry, pool

    return make


def content(n: int, seed: int) -> tuple[Pool, np.ndarray]:
    """A pool of clustered prompts in five benchmarks of unequal size and two categories."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(9, 16))
    vectors = (centres[random.integers(0, 9, n)] + 0.5 * random.normal(size=(n, 16)) + 1.0).astype(np.float32)
    texts = [f"{seed}/{row}" for row in range(n)]
    texts[n // 2], vectors[n // 2] = texts[0], vectors[0]  # one text in two benchmarks
    benchmark = np.array(["a", "b", "c", "d", "e"])[random.choice(5, n, p=[0.5, 0.2, 0.15, 0.1, 0.05])]
    ids = np.array([digest("id", seed, row) for row in range(n)])
    order = np.argsort(ids)
    pool = Pool(
        prompt_id=ids[order],
        content_hash=np.array([digest("content", text) for text in texts])[order],
        text_hash=np.array([digest("text", text) for text in texts])[order],
        benchmark=benchmark[order],
        category=np.where(np.isin(benchmark, ["a", "b"]), "first", "second")[order],
        copies=random.integers(1, 4, n)[order],
        truncated=random.random(n)[order] < 0.1,
        unknown_language=random.random(n)[order] < 0.2,
        encoder="fingerprint",
        encoder_description={"name": "made up"},
        blocks={name: Block(f"the {name}", {"kind": "features"}) for name in WIDTHS},
    )
    return pool, vectors[order]


def embeddings(pool: Pool, vectors: np.ndarray) -> pa.Table:
    """Rows of the embeddings table, one a text and block, among those of another encoder."""
    random = np.random.default_rng(len(vectors))
    blocks = {pool.encoder: vectors, "another": vectors * 0}
    blocks |= {pool.blocks[name].encoder: random.normal(size=(pool.n, width)) for name, width in WIDTHS.items()}
    _, first = np.unique(pool.text_hash, return_index=True)
    rows = [
        {
            "text_hash": str(pool.text_hash[row]),
            "encoder": encoder,
            "dimension": block.shape[1],
            "vector": block[row],
            "truncated": bool(pool.truncated[row]),
            "bucket": bucket(str(pool.text_hash[row]), 16),
        }
        for row in first
        for encoder, block in blocks.items()
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMAS["embeddings"])
