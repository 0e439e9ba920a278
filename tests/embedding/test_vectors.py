"""Laws of the user's own vectors: no engine, one row a prompt, and every fault names its prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.config import Config, EmbedSection, EncoderSection
from benchcore.embedding.encoder import fingerprint
from benchcore.embedding.features import feature_fingerprint
from benchcore.embedding.job import embed
from benchcore.errors import UsageError
from benchcore.registry.identity import text_hash
from benchcore.registry.tables import current_version, read
from tests.embedding.conftest import add_prompts


def write(path: Path, vectors: dict[str, Any], kind: pa.DataType | None = None) -> Config:
    """Write a file of vectors and the configuration that uses it."""
    column = pa.array(list(vectors.values()), kind or pa.list_(pa.float64()))
    pq.write_table(pa.table({"prompt_id": list(vectors), "vector": column}), path)
    return Config(embed=EmbedSection(encoder=EncoderSection(vectors=str(path))))


def test_own_vectors_are_filed_by_prompt_and_taken_once(tmp_path: Path):
    """Vectors of unknown prompts are ignored; features are of the texts all the same; a second run changes nothing."""
    registry = add_prompts(tmp_path / "root", ["one", "two"])
    first, second = read(registry, "prompts")["prompt_id"].to_pylist()
    config = write(tmp_path / "v.parquet", {second: [0.0, 2.0], first: [1.0, 0.5], "stranger": [9.0, 9.0]})
    outcome = embed(config, registry, "run")
    again = embed(config, registry, "run")
    own = fingerprint(config.embed, registry)
    stored = read(registry, "embeddings").to_pylist()
    found = {row["text_hash"]: row["vector"] for row in stored if row["encoder"] == own}
    features = {(row["text_hash"], row["encoder"]) for row in stored if row["encoder"] != own}
    names = {feature_fingerprint(name, config.embed) for name in ("surface", "ngrams")}

    assert (outcome.changed, outcome.encoded, outcome.texts) == (True, 2, 2)
    assert (again.changed, again.encoded, again.cached) == (False, 0, 2)
    assert found == {text_hash(first): [1.0, 0.5], text_hash(second): [0.0, 2.0]}
    assert features == {(text_hash(text), name) for text in ("one", "two") for name in names}
    assert (outcome.features, again.features) == (2, 0)
    assert current_version(registry, "embeddings") == 0


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"{0}": [1.0, 2.0]}, "without a vector: {1}"),
        ({"{0}": [1.0, 2.0], "{1}": [float("nan"), 1.0]}, "not finite or are zero: {1}"),
        ({"{0}": [0.0, 0.0], "{1}": [1.0, 1.0]}, "not finite or are zero: {0}"),
        ({"{0}": [1.0, 2.0], "{1}": [1.0]}, "dimensions"),
        ({"{0}": [1.0, 2.0], "{1}": None}, "not 2 dimensions: {1}"),
        ({"{0}": [1.0, None], "{1}": [1.0, 1.0]}, "not finite or are zero: {0}"),
    ],
)
def test_a_fault_in_the_file_names_the_prompts_and_stores_nothing(tmp_path: Path, vectors: Any, message: str):
    """The file is checked as a whole before anything is taken from it."""
    registry = add_prompts(tmp_path / "root", ["one", "two"])
    ids = read(registry, "prompts")["prompt_id"].to_pylist()
    config = write(tmp_path / "v.parquet", {name.format(*ids): vector for name, vector in vectors.items()})

    with pytest.raises(UsageError, match=message.format(*ids)):
        embed(config, registry, "run")
    assert current_version(registry, "embeddings") is None


def test_a_prompt_that_stands_twice_is_refused(tmp_path: Path):
    """Which of the two would count is nobody's guess."""
    registry = add_prompts(tmp_path / "root", ["one"])
    identity = read(registry, "prompts")["prompt_id"].to_pylist()[0]
    table = pa.table({"prompt_id": [identity, identity], "vector": [[1.0], [2.0]]})
    pq.write_table(table, tmp_path / "v.parquet")

    with pytest.raises(UsageError, match=f"stand twice: {identity}"):
        embed(Config(embed=EmbedSection(encoder=EncoderSection(vectors=str(tmp_path / "v.parquet")))), registry, "run")


def test_a_file_that_is_none_is_told_in_one_line(tmp_path: Path):
    """Missing, no Parquet, without the column, or with a column of texts."""
    registry = add_prompts(tmp_path / "root", ["one"])
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": ["x"], "vector": [[1.0]]}), other)
    texts = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"prompt_id": ["x"], "vector": ["1.0"]}), texts)
    (tmp_path / "text.csv").write_text("prompt_id,vector\n")
    faults = {"absent": "cannot be read", "text.csv": "no Parquet", other.name: "no column 'prompt_id'",
              texts.name: "not lists of numbers"}  # fmt: skip

    for name, message in faults.items():
        config = Config(embed=EmbedSection(encoder=EncoderSection(vectors=str(tmp_path / name))))
        with pytest.raises(UsageError, match=message):
            embed(config, registry, "run")
