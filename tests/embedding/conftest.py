"""Registries with a few prompts, and encoders small enough to be made on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchcore.registry.identity import content_hash, digest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing

AddPrompts = Callable[..., Registry]


def add_prompts(root: Path, texts: Iterable[str], **columns: Any) -> Registry:
    """Put prompts into the registry at `root`, one a text; ids follow from the texts."""
    registry = Registry.at(root)
    empty = dict.fromkeys(SCHEMAS["prompts"].names)
    rows = [
        {**empty, "prompt_id": f"id-{digest(text)[:8]}", "benchmark": "toy", "prompt": text,
         "content_hash": content_hash(text, None, None), **columns}
        for text in texts
    ]  # fmt: skip
    append_missing(registry, "prompts", pa.Table.from_pylist(rows, schema=SCHEMAS["prompts"]))
    return registry


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole sentence-transformers model of one layer and eight dimensions, with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=32, **shape)).save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=16)
    SentenceTransformer(modules=[transformer, Pooling(8)], device="cpu").save(str(folder / "model"))
    return folder / "model"
