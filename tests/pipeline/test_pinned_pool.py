"""The pool of a coreset is rebuilt as it was seen: by its table versions and its filter, copies once."""

from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError
from benchcore.pipeline.pinned_pool import pinned_pool
from benchcore.registry.manifests import Manifest, find_manifest
from benchcore.registry.root import Registry
from tests.registry.stored import prompt, source, store, store_coreset


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry.at(tmp_path)
    rows = [
        prompt("a", 1),
        prompt("a", 2, prompt="twice"),
        prompt("a", 3, prompt="twice"),
        prompt("b", 1, language="fr"),
    ]
    store(registry, "prompts", rows)
    store(registry, "sources", [source("a", licence="MIT"), source("b")])
    return registry


def manifest(registry: Registry, **wanted: object) -> Manifest:
    store_coreset(
        registry,
        "c",
        [prompt("a", 1)],
        semantic_configuration={"filter": wanted},
        table_versions={"prompts": 0, "sources": 0},
    )
    found = find_manifest(registry, "c")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("wanted", "benchmarks"),
    [
        ({}, ["a", "a", "b"]),
        ({"languages": ["fr"]}, ["b"]),
        ({"licences": ["MIT"]}, ["a", "a"]),
        ({"exclude_benchmarks": ["a"]}, ["b"]),
        ({"max_characters": 5}, ["a"]),
    ],
)
def test_the_filter_and_the_versions_of_the_manifest_count(registry: Registry, wanted: dict, benchmarks: list[str]):
    """Prompts that were added since are not there, and of equal ones the smallest id."""
    asked = manifest(registry, **wanted)
    store(registry, "prompts", [prompt("a", 9), prompt("b", 9, language="fr")])
    found = pinned_pool(registry, asked)

    assert sorted(found["benchmark"].to_pylist()) == benchmarks
    copies = {row["prompt_id"] for row in (prompt("a", 2), prompt("a", 3))}
    assert set(found["prompt_id"].to_pylist()) & copies <= {min(copies)}


def test_a_filter_of_another_release_is_refused(registry: Registry):
    with pytest.raises(BenchcoreError, match="the filter of coreset c cannot be read"):
        pinned_pool(registry, manifest(registry, moods=["sad"]))
