"""A small registry that is ready to be selected from: prompts of three benchmarks, with vectors of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchcore.config import Config
from benchcore.embedding.encoder import fingerprint
from benchcore.embedding.text import Renderer
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.registry.stored import embedding, prompt, store

SIZES = {"arithmetic": 40, "history": 25, "poems": 15}


def prepared(folder: Path, **sections: Any) -> Config:
    """The configuration of a registry with prompts and vectors, and nothing selected yet."""
    vectors = folder / "vectors.parquet"
    pq.write_table(pa.table({"prompt_id": ["a"], "vector": [[1.0, 0.0]]}), vectors)
    tree = {
        "registry": {"root": str(folder / "registry")},
        "embed": {"encoder": {"vectors": str(vectors)}, "features": []},
        "ray": {"num_cpus": 2, "object_store_mb": 256},
    }
    config = Config.model_validate(tree | {"select": {"k": 10, "workers": 1}} | sections)
    registry = Registry.at(config.registry.root)
    rows = [
        prompt(name, number, choices=["yes", "no"] if name == "history" else None)
        for name, size in SIZES.items()
        for number in range(size)
    ]
    store(registry, "prompts", rows)
    embed_new(config)
    return config


def embed_new(config: Config) -> None:
    """Give every text a vector that depends on nothing but the text."""
    registry = Registry.at(config.registry.root)
    encoder, hashes = fingerprint(config.embed, registry), Renderer(config.embed).hashes(read(registry, "prompts"))
    made = {text: np.random.default_rng(int(text[:8], 16)).normal(size=4).astype(np.float32) for text in hashes}
    store(
        registry,
        "embeddings",
        [embedding(text, encoder, vector=vector.tolist(), dimension=4) for text, vector in made.items()],
    )
