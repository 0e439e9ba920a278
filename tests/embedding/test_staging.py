"""Laws of staged units: whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchcore.embedding import staging
from benchcore.embedding.encoder import Encoded
from benchcore.embedding.units import unit_id
from benchcore.registry.identity import bucket, text_hash
from benchcore.registry.root import Registry


def stage(registry: Registry, *texts: str) -> str:
    """Stage one unit with made-up vectors and name it."""
    hashes = [text_hash(text) for text in texts]
    vectors = np.arange(len(texts) * 3, dtype=np.float32).reshape(-1, 3)
    rows = staging.rows_of(hashes, "encoder", Encoded(vectors, np.zeros(len(texts), bool), 0), 64)
    staging.write_unit(registry, "encoder", unit_id(hashes), rows)
    return unit_id(hashes)


def test_a_unit_comes_back_as_it_was_written(tmp_path: Path):
    """Vectors to the last bit, and the bucket follows from the hash alone."""
    registry = Registry.at(tmp_path)
    name = stage(registry, "x", "y")
    rows = staging.read_unit(registry, "encoder", name)

    assert staging.staged_units(registry, "encoder") == {name: [text_hash("x"), text_hash("y")]}
    assert rows["vector"].to_pylist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert rows["bucket"].to_pylist() == [bucket(text_hash("x"), 64), bucket(text_hash("y"), 64)]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "renamed", "temporary"])
def test_a_damaged_unit_is_removed_with_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
):
    """Its texts are encoded anew; the other unit is used."""
    registry = Registry.at(tmp_path)
    name, whole = stage(registry, "x", "y"), stage(registry, "z")
    file = Path(staging.folder(registry, "encoder")) / f"{name}.parquet"
    content = bytearray(file.read_bytes())
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        content[content.index(np.float32(4.0).tobytes()) + 2] ^= 0xFF
        file.write_bytes(content)
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "renamed":
        file.rename(file.with_name(f"{unit_id(['other'])}.parquet"))
    else:
        file.rename(file.with_name(f".{file.name}.0123"))

    assert list(staging.staged_units(registry, "encoder")) == [whole]
    assert [path.name for path in file.parent.iterdir()] == [f"{whole}.parquet"]
    assert "no whole unit" in caplog.text
