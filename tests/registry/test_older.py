"""A registry that an earlier release wrote is read as it is, and written on.

`older/2026-11-29.tar.gz` holds what `benchcore run` of that day made of `tests/end_to_end/corpora.py`
(six rows a benchmark, k = 6): without the columns, properties and blocks of features that came later.
"""

from __future__ import annotations

import tarfile
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from benchcore.registry.checks.everything import check
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.manifests import find_manifest, list_manifests, read_picks
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing, current_version, read
from benchcore.registry.vacuum import vacuum

CORESET = "6d3a545f1c31707da25a86d8d41cee96"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    with tarfile.open(Path(__file__).parent / "older" / "2026-11-29.tar.gz") as archive:
        archive.extractall(tmp_path / "registry", filter="data")
    return Registry.at(tmp_path / "registry")


def _findings(registry: Registry) -> list[tuple[str, str, str]]:
    return [(finding.severity, finding.check, finding.where) for finding in check(Snapshot.of(registry))]


def test_every_table_is_read_with_the_columns_of_today(registry: Registry):
    """A column that came later is null."""
    there = [name for name in SCHEMAS if current_version(registry, name) is not None]

    assert len(there) == 8
    for name in there:
        assert set(read(registry, name).column_names) == set(SCHEMAS[name].names)
    assert read(registry, "manifests")["plan"].null_count == 1


def test_its_coreset_is_whole(registry: Registry):
    """Picks, weights and the versions that it was picked from."""
    (manifest,) = list_manifests(registry)
    picks = read_picks(registry, CORESET)

    assert manifest.coreset_id == CORESET
    assert picks.num_rows == manifest.k == 6
    pinned = read(registry, "prompts", manifest.table_versions["prompts"])
    assert set(picks["prompt_id"].to_pylist()) <= set(pinned["prompt_id"].to_pylist())


def test_nothing_of_it_is_broken_and_vacuum_brings_it_up_to_date(registry: Registry):
    """Check says what the release of today would add."""
    (missing, retention) = _findings(registry)
    vacuum(registry, timedelta(days=30), dry_run=False)

    assert missing == ("notice", "schema", "manifests")
    assert retention[:2] == ("notice", "retention")
    assert _findings(registry) == [missing]


def test_what_is_written_to_it_has_the_columns_of_today(registry: Registry):
    """And what was there before stays as it was."""
    before = find_manifest(registry, CORESET)
    row = read(registry, "manifests").to_pylist()[0] | {"coreset_id": "c0ffee", "plan": '{"shards": 2}'}
    append_missing(registry, "manifests", pa.Table.from_pylist([row], SCHEMAS["manifests"]))

    assert set(read(registry, "manifests")["plan"].to_pylist()) == {None, '{"shards": 2}'}
    assert find_manifest(registry, CORESET) == before
