"""What nothing needs goes, and what a manifest pins stays, whoever is killed in between."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from benchcore.errors import BenchcoreError
from benchcore.registry.checks.everything import check
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.manifests import read_picks
from benchcore.registry.pins import stored_files
from benchcore.registry.root import Registry
from benchcore.registry.schemas import RETENTION
from benchcore.registry.tables import read
from benchcore.registry.vacuum import vacuum
from tests.registry import whole
from tests.registry.stored import edit, prompt, store, store_coreset

NOW = timedelta(0)
MONTH = timedelta(days=30)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Of the versions 0 to 3 of its prompts, a manifest pins 0 and 2."""
    registry = Registry.at(tmp_path / "registry")
    whole.write_whole(registry)
    for text in ("first", "second", "third"):
        edit(registry, "prompts", [prompt("two", 1, prompt=text)])
    pinned = read(registry, "prompts", 2).filter(_is(prompt("two", 1))).to_pylist()
    store_coreset(registry, "dec0de", pinned, table_versions={"prompts": 2})
    return registry


def _is(row: dict[str, Any]) -> Any:
    import pyarrow.compute as pc

    return pc.field("prompt_id") == row["prompt_id"]


def texts(registry: Registry, version: int | None = None) -> list[str]:
    """What the edited prompt says at a version."""
    return read(registry, "prompts", version, where=_is(prompt("two", 1)))["prompt"].to_pylist()


def test_pinned_versions_stay_readable_and_others_go(registry: Registry):
    """However old they are; the newest stays in any case."""
    done = vacuum(registry, NOW, dry_run=False)

    assert [texts(registry, version) for version in (0, 2, None)] == [["two asks 1"], ["second"], ["third"]]
    with pytest.raises(BenchcoreError, match="lacks one of its data files"):
        texts(registry, 1)
    assert (done.files["prompts"], done.pinned["prompts"]) == (1, 2)
    assert done.bytes["prompts"] > 0
    assert [finding for finding in check(Snapshot.of(registry)) if finding.severity == "broken"] == []


def test_a_second_one_finds_nothing_to_do(registry: Registry):
    """Nor does it make a version."""
    vacuum(registry, NOW, dry_run=False)
    versions = Snapshot.of(registry).versions

    assert vacuum(registry, NOW, dry_run=False).counts == {}
    assert Snapshot.of(registry).versions == versions


def test_a_dry_run_says_the_same_and_removes_nothing(registry: Registry):
    """File for file."""
    before = stored_files(registry, "prompts")
    planned = vacuum(registry, NOW, dry_run=True)

    assert stored_files(registry, "prompts") == before
    assert vacuum(registry, NOW, dry_run=False) == planned


def test_versions_of_the_last_days_stay(registry: Registry):
    """A reader may still be at one of them; how old the file is does not matter, but how long it is unneeded."""
    for file in Path(registry.uri("prompts")).glob("*.parquet"):
        os.utime(file, (0, 0))

    assert vacuum(registry, MONTH, dry_run=False).files == {}
    assert texts(registry, 1) == ["first"]


def test_what_a_killed_writer_left_goes_when_it_is_old(registry: Registry):
    """Files that no version names, with Hadoop's checksums beside them."""
    folder = Path(registry.uri("prompts"))
    old, young = folder / "part-old.parquet", folder / "part-young.parquet"
    for file in (old, folder / ".part-old.parquet.crc", young):
        file.write_text("rows")
    os.utime(old, (0, 0))

    assert vacuum(registry, MONTH, dry_run=False).files == {"prompts": 1}
    assert not old.exists()
    assert not list(folder.glob(".*.crc"))
    assert young.exists()


def test_caches_and_what_killed_runs_staged_go_when_they_are_old(registry: Registry):
    """The lock of the engine stays: its process may still hold it."""
    kept = [Path(registry.sidecar("_staging", "ingest", "_lock")), Path(registry.sidecar("_layouts", "new.layout"))]
    gone = [
        Path(registry.sidecar("_layouts", "old.layout")),
        Path(registry.sidecar("_checkpoints", "select", "old.json")),
        Path(registry.sidecar("_staging", "embeddings", "e", "unit.parquet")),
    ]
    for file in (*kept, *gone):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1234")
    for file in (kept[0], *gone):
        os.utime(file, (0, 0))

    done = vacuum(registry, MONTH, dry_run=False)

    assert done.files == {"_staging": 1, "_checkpoints/select": 1, "_layouts": 1}
    assert done.bytes == dict.fromkeys(done.files, 4)
    assert [file.exists() for file in (*kept, *gone)] == [True, True, False, False, False]


def test_coresets_without_manifest_are_dropped(registry: Registry):
    """What a killed selection left, and nobody asked for again."""
    before = read(registry, "coresets")
    half = [row | {"coreset_id": "half"} for row in read_picks(registry, whole.CORESET).to_pylist()]
    store(registry, "coresets", half)
    assert [finding.check for finding in check(Snapshot.of(registry))] == ["orphans", "stale"]

    assert vacuum(registry, NOW, dry_run=False).unsealed == {"coresets": 2}
    order = [("coreset_id", "ascending"), ("rank", "ascending")]
    assert read(registry, "coresets").sort_by(order).equals(before.sort_by(order))


def test_a_lost_table_of_manifests_does_not_take_the_picks_with_it(registry: Registry):
    """It may come back from a copy."""
    shutil.rmtree(registry.uri("manifests"))

    assert vacuum(registry, NOW, dry_run=False).unsealed == {}
    assert read(registry, "coresets").num_rows == 3


def test_tables_of_an_earlier_release_get_their_retention(registry: Registry):
    """Else another engine's vacuum would take what is pinned."""
    short = {"delta.deletedFileRetentionDuration": "interval 7 days"}
    DeltaTable(registry.uri("prompts")).alter.set_table_properties(short)

    assert vacuum(registry, NOW, dry_run=False).retention == ["prompts"]
    assert RETENTION.items() <= DeltaTable(registry.uri("prompts")).metadata().configuration.items()


def _arguments(registry: Registry) -> tuple[str, ...]:
    return ("registry", "vacuum", "--root", registry.root, "--keep-days", "0")


def _command(registry: Registry) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchcore", *_arguments(registry)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _clutter(registry: Registry, files: int) -> None:
    """Many files that no version names, so that their removal takes a moment."""
    for number in range(files):
        (Path(registry.uri("prompts")) / f"part-{number}.parquet").write_text("rows")


def _count(registry: Registry) -> int:
    return len(list(Path(registry.uri("prompts")).glob("part-*.parquet")))


def test_two_at_once_wait_for_each_other(registry: Registry):
    """Both end well, and what is there is as after one."""
    _clutter(registry, 100)
    both = [_command(registry) for _ in range(2)]
    told = [process.communicate(timeout=120)[0].splitlines()[-1] for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert sorted(line.split(",")[0] for line in told) == ["0 files", "101 files"]
    assert texts(registry, 2) == ["second"]


# `benchcore`, killed when it is about to remove one file more.
DEADLY = """
import os, signal, sys
from fsspec.implementations.local import LocalFileSystem
from benchcore.cli.main import main
remove, left = LocalFileSystem.rm_file, int(sys.argv.pop(1))
def deadly(*arguments):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return remove(*arguments)
LocalFileSystem.rm_file = deadly
main()
"""


def test_after_a_kill_in_the_middle_the_next_removes_the_rest(registry: Registry):
    """kill -9 when some of many files are gone."""
    _clutter(registry, 100)
    before = _count(registry)
    killed = subprocess.run([sys.executable, "-c", DEADLY, "60", *_arguments(registry)], timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert 3 < _count(registry) < before

    vacuum(registry, NOW, dry_run=False)

    assert _count(registry) == 3
    assert [texts(registry, version) for version in (0, 2, None)] == [["two asks 1"], ["second"], ["third"]]
