"""The pool: what is selectable, without copies, each prompt with the hash of its text."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.config import Config
from benchcore.distributed.pool import Pool
from benchcore.embedding.encoder import fingerprint
from benchcore.embedding.features import feature_fingerprint
from benchcore.embedding.text import Renderer
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.selectable import outside, selectable
from benchcore.registry.identity import text_hash
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin, read
from tests.registry.stored import embedding, prompt, source, store


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.at(tmp_path / "registry")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """The user's own vectors: an encoder without a model."""
    vectors = tmp_path / "vectors.parquet"
    pq.write_table(pa.table({"prompt_id": ["a"], "vector": [[1.0, 0.0]]}), vectors)
    return Config.model_validate({"embed": {"encoder": {"vectors": str(vectors), "languages": ["en"]}}})


def with_filter(config: Config, **wanted: object) -> Config:
    return Config.model_validate(config.model_dump() | {"select": {"filter": wanted}})


def embed_all(config: Config, registry: Registry, **values: object) -> None:
    """What the embedding step would leave."""
    rows = read(registry, "prompts")
    hashes = dict.fromkeys(Renderer(config.embed).hashes(rows))
    encoder = fingerprint(config.embed, registry)
    store(registry, "embeddings", [embedding(text, encoder, **values) for text in hashes])


def pool_of(config: Config, registry: Registry) -> Pool:
    return selectable(config, registry, pin(registry, ("prompts", "sources", "embeddings")))


def test_copies_inside_a_benchmark_become_mass(registry: Registry, config: Config):
    """The smallest id stands for all; the same content in another benchmark is a prompt of its own."""
    same = {"prompt": "The same?", "answer": "yes"}
    rows = [prompt("one", 1, **same), prompt("one", 2, **same), prompt("one", 3), prompt("two", 1, **same)]
    rows[0]["duplicate_of"] = rows[3]["prompt_id"]
    store(registry, "prompts", rows)
    embed_all(config, registry)

    pool = pool_of(config, registry)

    smallest = min(rows[0]["prompt_id"], rows[1]["prompt_id"])
    expected = {smallest: 2, rows[2]["prompt_id"]: 1, rows[3]["prompt_id"]: 1}
    assert dict(zip(pool.prompt_id.tolist(), pool.copies.tolist(), strict=True)) == expected
    assert pool.prompt_id.tolist() == sorted(expected)


def test_a_copy_whose_original_is_filtered_out_stands_for_itself(registry: Registry, config: Config):
    """A filter decides before copies are collapsed, whichever of them the table calls the original."""
    rows = [prompt("one", number, prompt="The same?", tags=["old"] if number < 2 else []) for number in range(4)]
    first = min(rows, key=lambda row: row["prompt_id"])
    for row in rows:
        row["duplicate_of"] = first["prompt_id"] if row is not first else None
    store(registry, "prompts", rows)
    embed_all(config, registry)

    pool = pool_of(with_filter(config, exclude_tags=["old"]), registry)

    assert pool.prompt_id.tolist() == [min(rows[2]["prompt_id"], rows[3]["prompt_id"])]
    assert pool.copies.tolist() == [2]


def test_retired_prompts_are_not_selectable(registry: Registry, config: Config):
    """They stay in the table, for the coresets that pinned them."""
    gone = prompt("one", 1, retired_at=datetime(2026, 1, 1, tzinfo=UTC))
    store(registry, "prompts", [gone, prompt("one", 2)])
    embed_all(config, registry)

    assert gone["prompt_id"] not in pool_of(config, registry).prompt_id


def test_licences_come_from_the_current_sources(registry: Registry, config: Config):
    """A superseded row says what was, and each file has a licence of its own."""
    store(registry, "prompts", [prompt("one", 1), prompt("two", 1), prompt("two", 2, path="other.jsonl")])
    store(
        registry,
        "sources",
        [
            source("one", licence="MIT", content_sha256="old", superseded_by="20260101T000000-000000"),
            source("one", licence="GPL"),
            source("two", licence="MIT"),
            source("two", path="other.jsonl"),
        ],
    )
    embed_all(config, registry)

    pool = pool_of(with_filter(config, licences=["MIT"]), registry)

    assert pool.prompt_id.tolist() == [prompt("two", 1)["prompt_id"]]


def test_hashes_and_marks_follow_their_prompt(registry: Registry, config: Config):
    """Columns of the pool speak of the same row, whatever order the tables are in."""
    rows = [prompt("one", number, language="en" if number % 2 else "de-AT") for number in range(9)]
    store(registry, "prompts", rows)
    encoder = fingerprint(config.embed, registry)
    cut = {text_hash(row["prompt_id"]): row["source_row"] % 3 == 0 for row in rows}
    store(registry, "embeddings", [embedding(text, encoder, truncated=was) for text, was in reversed(cut.items())])
    store(registry, "embeddings", [embedding(text, "another encoder", truncated=True) for text in cut])

    pool = pool_of(config, registry)

    by_id = {row["prompt_id"]: row for row in rows}
    numbers = np.array([by_id[identity]["source_row"] for identity in pool.prompt_id])
    assert pool.text_hash.tolist() == [text_hash(identity) for identity in pool.prompt_id]
    assert pool.content_hash.tolist() == [by_id[identity]["content_hash"] for identity in pool.prompt_id]
    assert pool.truncated.tolist() == (numbers % 3 == 0).tolist()
    assert pool.unknown_language.tolist() == (numbers % 2 == 0).tolist()
    assert pool.encoder == encoder


def test_features_are_of_what_prompts_say_even_where_vectors_are_the_users_own(registry: Registry, config: Config):
    """Their rows stand under the hash of the text, by fingerprints that know the text template."""
    rows = [prompt("one", number) for number in range(3)]
    store(registry, "prompts", rows)
    embed_all(config, registry)

    pool = pool_of(config, registry)
    without = pool_of(Config.model_validate({"embed": config.embed.model_dump() | {"features": []}}), registry)

    said = {row["prompt_id"]: text_hash(row["prompt"]) for row in rows}
    assert pool.said.tolist() == [said[identity] for identity in pool.prompt_id]
    assert {name: feature_fingerprint(name, config.embed) for name in ("surface", "ngrams")} == {
        name: block.encoder for name, block in pool.blocks.items()
    }
    assert (without.blocks, without.said.tolist()) == ({}, pool.text_hash.tolist())


def test_a_benchmark_has_one_category(registry: Registry, config: Config):
    """The most frequent of its prompts', since shares are given to benchmarks inside categories."""
    rows = [prompt("one", number, category=category) for number, category in enumerate(["a", "b", "b"])]
    rows += [prompt("two", number, category=category) for number, category in enumerate(["d", "c"])]
    store(registry, "prompts", rows)
    embed_all(config, registry)

    pool = pool_of(config, registry)

    assert set(zip(pool.benchmark.tolist(), pool.category.tolist(), strict=True)) == {("one", "b"), ("two", "c")}


def test_another_number_of_buckets_than_the_tables_is_refused(registry: Registry, config: Config):
    """Before any worker looks for vectors where they are not."""
    store(registry, "prompts", [prompt("one", number) for number in range(8)])
    embed_all(config, registry)
    other = config.model_copy(update={"registry": config.registry.model_copy(update={"buckets": 8})})

    with pytest.raises(UsageError, match=r"registry\.buckets: is 8, but .* another number\. Set it back"):
        pool_of(other, registry)


def test_prompts_without_embedding_are_counted_and_the_mending_command_named(registry: Registry, config: Config):
    """Nothing is picked from half of the registry."""
    store(registry, "prompts", [prompt("one", 1)])
    embed_all(config, registry)
    store(registry, "prompts", [prompt("two", 1), prompt("two", 2)])

    with pytest.raises(BenchcoreError, match=r"2 of 3 prompts have no embedding yet \(two 2\).*`benchcore embed CONF`"):
        pool_of(config, registry)
    vectors = Path(registry.root, "others.parquet")
    pq.write_table(pa.table({"prompt_id": ["a"], "vector": [[0.0, 1.0]]}), vectors)
    others = Config.model_validate(config.model_dump() | {"embed": {"encoder": {"vectors": str(vectors)}}})
    with pytest.raises(BenchcoreError, match=r"3 of 3 .*; the vectors that there are have other .*\(1 fingerprints\)"):
        pool_of(others, registry)


def test_an_empty_registry_is_told(registry: Registry, config: Config):
    """With the command that fills it."""
    with pytest.raises(BenchcoreError, match=r"no prompts yet.*`benchcore ingest CONF`"):
        pool_of(config, registry)


def test_a_benchmark_that_there_is_not_is_told(registry: Registry, config: Config):
    """With the nearest right name."""
    store(registry, "prompts", [prompt("gsm8k", 1)])
    embed_all(config, registry)

    with pytest.raises(UsageError, match="Did you mean 'gsm8k'"):
        pool_of(with_filter(config, benchmarks=["gsm8"]), registry)


def test_rows_added_after_pinning_are_not_seen(registry: Registry, config: Config):
    """The pool is of the versions that the manifest will name."""
    store(registry, "prompts", [prompt("one", 1)])
    embed_all(config, registry)
    pinned = pin(registry, ("prompts", "sources", "embeddings"))
    store(registry, "prompts", [prompt("one", 2)])

    assert selectable(config, registry, pinned).n == 1


def test_regions_of_a_known_language_are_known():
    """And nothing is said about an encoder of which nothing is known, or a prompt whose language is not named."""
    languages = pa.chunked_array([["en", "en-GB", "pt_BR", "EN", "et", None, "ht"]])

    assert outside(languages, frozenset({"en", "pt"})).tolist() == [False, False, False, False, True, False, True]
    assert not outside(languages, None).any()


def test_a_budget_knows_what_each_prompt_takes_to_read(registry: Registry, config: Config):
    """Characters over plan.characters_per_token, rounded up, and never nothing; no tokens without a budget."""
    rows = [prompt("one", 1, n_characters=10), prompt("one", 2, n_characters=0), prompt("one", 3, n_characters=12)]
    store(registry, "prompts", rows)
    embed_all(config, registry)
    priced = {"select": {"budget": {"tokens": 100}}, "plan": {"characters_per_token": 4}}

    pool = pool_of(Config.model_validate(config.model_dump() | priced), registry)

    assert pool.tokens is not None
    taken = dict(zip(pool.prompt_id.tolist(), pool.tokens.tolist(), strict=True))
    assert taken == {rows[0]["prompt_id"]: 3, rows[1]["prompt_id"]: 1, rows[2]["prompt_id"]: 3}
    assert pool_of(config, registry).tokens is None
