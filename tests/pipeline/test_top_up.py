"""Topping up: a larger coreset that keeps every pick, or a word on why it cannot."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchcore.config import Config
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.steps import run
from benchcore.pipeline.top_up import top_up
from benchcore.registry.manifests import find_manifest, read_picks
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import read, replace_where
from tests.pipeline.prepared import embed_new, prepared

pytestmark = pytest.mark.usefixtures("standing_workers")


def selected(config: Config) -> str:
    return str(run(config, steps=("select",)).coreset_id)


def ids(config: Config, coreset_id: str) -> list[str]:
    return read_picks(Registry.at(config.registry.root), coreset_id)["prompt_id"].to_pylist()


def edit(config: Config, prompt_id: str, **values: Any) -> None:
    registry = Registry.at(config.registry.root)
    rows = read(registry, "prompts").to_pylist()
    (row,) = (row for row in rows if row["prompt_id"] == prompt_id)
    table = pa.Table.from_pylist([row | values], schema=SCHEMAS["prompts"])
    replace_where(registry, "prompts", "prompt_id", prompt_id, table)
    embed_new(config)


@pytest.mark.parametrize(("method", "includes"), [("nested_swaps", False), ("balanced_swaps", True)])
def test_old_picks_come_first(tmp_path: Path, method: str, includes: bool):
    """A nested method goes on; another one gets them as includes, and may again."""
    config = prepared(tmp_path, select={"k": 10, "workers": 1, "method": method})
    old = selected(config)

    larger = top_up(config, old[:8], 16)

    manifest = find_manifest(Registry.at(config.registry.root), larger)
    assert manifest is not None
    assert ids(config, larger)[:10] == ids(config, old)
    assert len(set(ids(config, larger))) == manifest.k == 16
    assert bool(manifest.semantic_configuration["include"]) == includes
    assert top_up(config, old, 16) == larger
    if includes:  # of a configuration that differs by them
        assert ids(config, top_up(config, larger, 20))[:16] == ids(config, larger)


def test_another_configuration_size_or_pool_is_told(tmp_path: Path):
    """What differs is named; picks that were not retired or edited stay where that is wanted."""
    config = prepared(tmp_path, select={"k": 10, "workers": 1, "method": "random"})
    old = ids(config, coreset_id := selected(config))
    other = config.model_copy(update={"select": config.select.model_copy(update={"seed": 3, "mass": "micro"})})
    with pytest.raises(UsageError, match="mass is micro, was macro; seed is 3, was 0"):
        top_up(other, coreset_id, 20)
    with pytest.raises(UsageError, match=r"has 10 picks already\. Choose a larger k"):
        top_up(config, coreset_id, 10)

    edit(config, old[2], retired_at=datetime(2026, 2, 2, tzinfo=UTC))
    edit(config, old[5], prompt="Quite another question?", content_hash="f" * 32)

    with pytest.raises(BenchcoreError) as error:
        top_up(config, coreset_id, 14)
    larger = top_up(config, coreset_id, 14, over_changes=True)

    told = str(error.value)
    assert "of its 10 picks 1 are gone or filtered out, 1 have another text" in told
    assert old[2] in told
    assert old[5] in told
    assert "Include the 8 that are still there" in told
    assert ids(config, larger)[:8] == [identity for identity in old if identity not in (old[2], old[5])]
