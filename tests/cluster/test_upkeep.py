"""`registry check`, `vacuum` and `purge` on an object store: what they do in a folder."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchcore.cli.options import existing_registry
from benchcore.config import Config, RegistrySection
from benchcore.errors import BenchcoreError
from benchcore.registry.checks.everything import check
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.lock import writer_lock
from benchcore.registry.purge.found import find
from benchcore.registry.purge.removal import purge
from benchcore.registry.purge.target import Target
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import read, replace_where
from benchcore.registry.vacuum import vacuum
from tests.registry import whole
from tests.registry.stored import prompt

NOW = timedelta(0)


def _findings(registry: Registry) -> list[tuple[str, str]]:
    return sorted((finding.severity, finding.check) for finding in check(Snapshot.of(registry)))


def _kept_in_order(location: str) -> dict[str, Any]:
    """Edit twice, vacuum, purge a pick; what each of them says, and what is there at the end."""
    with writer_lock(Registry.at(location), "test", timeout_s=0) as registry:
        whole.write_whole(registry)
        for text in ("first", "second"):
            edited = prompt("two", 1, prompt=text)
            rows = pa.Table.from_pylist([edited], SCHEMAS["prompts"])
            replace_where(registry, "prompts", "prompt_id", edited["prompt_id"], rows)
        found = {"checked": _findings(registry), "planned": dict(vacuum(registry, NOW, dry_run=True).files)}
        found["vacuumed"] = [dict(vacuum(registry, NOW, dry_run=False).files) for _ in range(2)]
        doomed = find(registry, Target((whole.OTHER["prompt_id"],)), lambda rows: set(rows["content_hash"].to_pylist()))
        found["purged"] = purge(registry, doomed, "20260201T000000-abcdef")
        found["checked again"] = _findings(registry)
        found["left"] = sorted(read(registry, "prompts")["prompt_id"].to_pylist())
        return found


def test_it_is_kept_in_order_as_a_folder_would_be(root: str, tmp_path: Path):
    """Call for call, with something to remove for each of them."""
    there = _kept_in_order(root)

    assert there == _kept_in_order(str(tmp_path / "registry"))
    assert there["vacuumed"] == [there["planned"], {}]
    assert there["planned"]["prompts"] >= 1
    assert whole.OTHER["prompt_id"] not in there["left"]


def test_a_misspelt_root_is_no_registry_in_order(root: str):
    """A prefix of a bucket is never missing; what tells is that no table lies there, though a lock may."""
    config = Config(registry=RegistrySection(root=root))
    with (
        writer_lock(Registry.at(root), "test", timeout_s=0),
        pytest.raises(BenchcoreError, match="no table lies there"),
    ):
        existing_registry(config)
