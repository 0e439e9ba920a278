"""A hostile encoder: a folder or a model of the hub that carries programs beside its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchcore.config import EmbedSection, EncoderSection
from benchcore.embedding.encoder import load
from benchcore.embedding.model_files import locate
from benchcore.errors import BenchcoreError, UsageError


def model(folder: Path, kind: str, *weights: str) -> EncoderSection:
    """A model whose only module is of some class, in a folder that has Python of its own."""
    folder.mkdir()
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": kind}]))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 8}))
    (folder / "evil.py").write_text(f"open({str(folder.parent / 'escape')!r}, 'w')\nclass Module: pass\n")
    for name in weights:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
    return EncoderSection(name=str(folder))


@pytest.mark.parametrize("weights", [["pytorch_model.bin"], ["model.safetensors", "2_Dense/pytorch_model.bin"]])
def test_weights_in_a_pickle_are_refused(tmp_path: Path, weights: list[str]):
    """A pickle is a program; those of a module of its own as those of the whole."""
    with pytest.raises(UsageError, match="is a pickle, which is a program"):
        locate(model(tmp_path / "model", "sentence_transformers.models.Transformer", *weights))


def test_a_pickle_beside_safe_weights_does_no_harm(tmp_path: Path):
    """It is what most models carry, and it is not loaded."""
    encoder = model(tmp_path / "model", "x", "model.safetensors", "pytorch_model.bin", "training_args.bin")

    assert locate(encoder).folder == tmp_path / "model"


@pytest.mark.parametrize("kind", ["evil.Module", "os.system", "antigravity.Module"])
def test_a_model_brings_no_code(tmp_path: Path, kind: str):
    """Neither a file of its own nor any module that is installed."""
    encoder = model(tmp_path / "model", kind, "model.safetensors")

    with pytest.raises(BenchcoreError, match="cannot be loaded"):
        load(EmbedSection(encoder=encoder))

    assert not (tmp_path / "escape").exists()
