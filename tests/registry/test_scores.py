"""Stored scores are given to whichever copies of a prompt are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.scores import read_scores
from tests.registry.stored import edit, prompt, store


def score(row: dict[str, Any], model: str = "m", value: float = 1.0, **values: Any) -> dict[str, Any]:
    fields = {"model": model, "prompt_id": row["prompt_id"], "run": "r", "metric": "em", "epoch": 1}
    fields |= {"content_hash": row["content_hash"], "score": value}
    return dict.fromkeys(SCHEMAS["scores"].names) | fields | values


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.at(tmp_path / "registry")


def pairs(registry: Registry, *prompts: dict[str, Any], **options: Any) -> list[tuple[str, str, float]]:
    asked = [row["prompt_id"] for row in prompts]
    rows = read_scores(registry, prompt_ids=asked, **options).to_pylist()
    return [(row["model"], row["prompt_id"], row["score"]) for row in rows]


def test_a_registry_without_scores_has_none(registry: Registry):
    """Of any prompts and models."""
    assert read_scores(registry).num_rows == 0
    assert read_scores(registry, prompt_ids=["a"], models=[]).column_names == SCHEMAS["scores"].names


def test_rows_of_some_models_and_columns(registry: Registry):
    """In the order of the key."""
    row = prompt("one", 1)
    store(registry, "prompts", [row])
    store(registry, "scores", [score(row, "z"), score(row, "a"), score(row, "b")])

    found = read_scores(registry, models=["z", "a"], columns=("model", "score"))

    assert found.to_pylist() == [{"model": "a", "score": 1.0}, {"model": "z", "score": 1.0}]


def test_copies_share_their_scores_inside_a_benchmark(registry: Registry):
    """The one that has a score gives it to the others; another benchmark's prompt with that text gets none."""
    copies = [prompt("one", number, prompt="the same") for number in range(3)]
    other = prompt("two", 1, prompt="the same")
    store(registry, "prompts", [*copies, other])
    store(registry, "scores", [score(copies[0])])

    assert pairs(registry, copies[2]) == [("m", copies[2]["prompt_id"], 1.0)]
    assert pairs(registry, other) == []
    assert len(pairs(registry, *copies)) == 3


def test_a_prompts_own_score_wins_over_that_of_a_copy(registry: Registry):
    """Each key once."""
    copies = [prompt("one", number, prompt="the same") for number in range(3)]
    store(registry, "prompts", copies)
    store(registry, "scores", [score(copies[0], value=0.0), score(copies[1], value=1.0)])

    assert pairs(registry, copies[1]) == [("m", copies[1]["prompt_id"], 1.0)]
    assert len(pairs(registry, copies[2])) == 1


def test_scores_of_an_earlier_version_come_with_its_hash(registry: Registry):
    """Whoever reads them compares it with the version that is pinned."""
    old, new = prompt("one", 1, prompt="old"), prompt("one", 1, prompt="new")
    store(registry, "prompts", [old])
    store(registry, "scores", [score(old)])
    edit(registry, "prompts", [new])

    [row] = read_scores(registry, prompt_ids=[new["prompt_id"]]).to_pylist()

    assert row["content_hash"] == old["content_hash"]
