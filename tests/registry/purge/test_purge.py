"""What was purged is gone: from every table, from every version, from the log, and for a second run too."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.registry.checks.everything import check
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.manifests import find_manifest
from benchcore.registry.pins import stored_files
from benchcore.registry.purge.found import Found, find
from benchcore.registry.purge.removal import purge
from benchcore.registry.purge.target import Target
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, SCHEMAS
from benchcore.registry.tables import current_version, read
from tests.registry import whole
from tests.registry.stored import edit, embedding, prompt, store
from tests.registry.whole import account, quarantined

RUN = "20260201T000000-abcdef"


def text_hashes(rows: pa.Table) -> set[str]:
    """In these registries, vectors stand under the hash of the content."""
    return set(rows["content_hash"].to_pylist())


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Whole, with pages, maps and staged work, and one prompt that said something else before."""
    registry = Registry.at(tmp_path_factory.mktemp("purge") / "registry")
    whole.write_whole(registry)
    earlier = prompt("two", 7, prompt="Something else before")
    store(registry, "embeddings", [embedding(earlier["content_hash"], "e")])
    edit(registry, "prompts", [earlier])
    edit(registry, "prompts", [prompt("two", 7, retired_at=datetime(2026, 1, 2, tzinfo=UTC))])
    for folder, name in (("reports", "page.html"), ("_layouts", "map.layout"), ("_staging", "rows.txt")):
        file = Path(registry.sidecar(folder, name))
        file.parent.mkdir()
        file.write_text(" ".join(row["prompt"] for row in (*whole.PROMPTS, earlier)))
    return Path(registry.root)


@pytest.fixture
def registry(untouched: Path, tmp_path: Path) -> Registry:
    return Registry.at(shutil.copytree(untouched, tmp_path / "registry"))


def look(registry: Registry, *prompts: dict[str, Any], **named: Any) -> Found:
    return find(registry, Target(tuple(row["prompt_id"] for row in prompts), **named), text_hashes)


def purged(registry: Registry, *prompts: dict[str, Any], **named: Any) -> dict[str, int]:
    return purge(registry, look(registry, *prompts, **named), RUN)


def says(registry: Registry, text: str) -> list[str]:
    """The files below the root that hold a text, whatever they are for."""
    files = [file for file in Path(registry.root).rglob("*") if file.is_file()]
    return [file.name for file in files if text in _content(file)]


def _content(file: Path) -> str:
    return (
        str(pq.read_table(file).to_pylist())
        if file.suffix == ".parquet"
        else file.read_bytes().decode(errors="replace")
    )


def told(registry: Registry) -> list[tuple[str, str]]:
    return [(finding.severity, finding.check) for finding in check(Snapshot.of(registry))]


def ids(registry: Registry, table: str) -> set[str]:
    return set(read(registry, table)["prompt_id"].to_pylist())


def test_a_prompt_is_gone_from_every_table_and_version(registry: Registry):
    """Not a file below the root holds its text any more, and the books still balance."""
    assert len(says(registry, whole.OTHER["prompt"])) > 3

    counts = purged(registry, whole.OTHER)

    assert says(registry, whole.OTHER["prompt"]) == []
    for table in ("prompts", "scores", "bindings"):
        assert whole.OTHER["prompt_id"] not in ids(registry, table)
    assert whole.OTHER["content_hash"] not in read(registry, "embeddings")["text_hash"].to_pylist()
    rows = {name: counts[f"rows_of_{name}"] for name in ("prompts", "scores", "bindings", "embeddings")}
    assert rows == dict.fromkeys(rows, 1)
    assert told(registry) == [("notice", "purged")]


def test_everything_else_stays(registry: Registry):
    """Row by row."""
    before = {name: read(registry, name).to_pylist() for name in SCHEMAS}
    purged(registry, whole.OTHER)

    gone = {whole.OTHER["prompt_id"], whole.OTHER["content_hash"]}
    for name in ("prompts", "scores", "bindings", "embeddings"):
        left = [row for row in before[name] if not gone & {row.get("prompt_id"), row.get("text_hash")}]
        assert sorted(read(registry, name).to_pylist(), key=_key(name)) == sorted(left, key=_key(name))
    for name in ("coresets", "coreset_weights"):
        assert read(registry, name).to_pylist() == before[name]


def _key(name: str) -> Any:
    return lambda row: tuple(row[column] for column in KEYS[name])


def test_what_it_said_before_goes_too(registry: Registry):
    """A retired prompt with an earlier text: neither is to come back by time travel, and no vector of either."""
    old = prompt("two", 7, prompt="Something else before")
    purged(registry, old)

    assert says(registry, "Something else before") == says(registry, "two asks 7") == []
    assert old["content_hash"] not in read(registry, "embeddings")["text_hash"].to_pylist()
    assert told(registry) == []


def test_its_place_in_the_file_stays_accounted_for(registry: Registry):
    """A row of quarantine without text, for what the file has now."""
    purged(registry, whole.OTHER, whole.GONE)

    new = [row for row in read(registry, "quarantine").to_pylist() if row["reason"] == "purged"]
    assert new == [quarantined("one", whole.OTHER["source_row"], reason="purged", raw=None, run_id=RUN)]
    (row,) = [
        row for row in read(registry, "sources").to_pylist() if row["content_sha256"] == "c" and row["source"] == "one"
    ]
    assert row == account("one", 5, 2, 1, 2)


def test_a_copy_takes_the_place_of_the_first(registry: Registry):
    """It stands for itself from then on, and the vector that it shares stays."""
    found = look(registry, whole.FIRST)
    assert found.same == {"one": 1, "two": 1}
    purge(registry, found, RUN)

    marks = {row["prompt_id"]: row["duplicate_of"] for row in read(registry, "prompts").to_pylist()}
    assert marks[whole.COPY["prompt_id"]] is None
    assert whole.FIRST["content_hash"] in read(registry, "embeddings")["text_hash"].to_pylist()
    assert told(registry) == []


def test_copies_can_go_with_it(registry: Registry):
    """Those of other benchmarks too: then nobody says it any more."""
    purged(registry, whole.FIRST, copies=True)

    assert says(registry, whole.SAME["prompt"]) == []
    assert whole.FIRST["content_hash"] not in read(registry, "embeddings")["text_hash"].to_pylist()
    assert told(registry) == []


def test_a_benchmark_goes_with_what_is_in_quarantine(registry: Registry):
    """Its rows stay as places; other benchmarks do not change."""
    purged(registry, benchmarks=("one",))

    assert says(registry, "one asks") == says(registry, quarantined("one", 5)["raw"]) == []
    assert {row["benchmark"] for row in read(registry, "prompts").to_pylist()} == {"two"}
    assert {(row["reason"], row["raw"]) for row in read(registry, "quarantine").to_pylist()} == {("purged", None)}
    assert told(registry) == [("notice", "purged")]


def test_a_coreset_that_picked_it_is_broken_and_others_lose_their_pins(registry: Registry):
    """Both are told before; the picks, their weights and the scores of the others stay."""
    found = look(registry, whole.OTHER)
    assert found.picked == {whole.CORESET: 1}
    assert found.unpinned == (whole.CORESET,)
    purge(registry, found, RUN)

    assert find_manifest(registry, whole.CORESET).table_versions == {"sources": 0}
    assert read(registry, "coresets").num_rows == 2


def test_looking_changes_nothing(registry: Registry):
    """No version, no file."""
    before = {name: (current_version(registry, name), stored_files(registry, name)) for name in SCHEMAS}

    assert look(registry, whole.OTHER).rows["prompts"] == 1

    assert {name: (current_version(registry, name), stored_files(registry, name)) for name in SCHEMAS} == before


def test_a_second_time_there_is_nothing_to_do(registry: Registry):
    """Nor for a prompt that there never was."""
    purged(registry, whole.OTHER)

    assert look(registry, whole.OTHER).files == {}
    assert look(registry, prompt("three", 1)).files == {}


def test_scores_of_a_prompt_that_there_is_not_can_be_purged(registry: Registry):
    """As the check of the tables advises."""
    store(registry, "scores", [whole.score(prompt("three", 1))])
    assert ("broken", "orphans") in told(registry)

    purged(registry, prompt("three", 1))

    assert told(registry) == []


PURGE = """
import sys
from benchcore.registry.root import Registry
from tests.registry import whole
from tests.registry.purge.test_purge import look, purged
purged(Registry.at(sys.argv[1]), whole.OTHER)
"""


@pytest.mark.parametrize("table", ["quarantine", "manifests"])
def test_killed_and_run_again_it_ends_as_if_it_had_run_once(registry: Registry, tmp_path: Path, table: str):
    """kill -9 as soon as a table has its new version."""
    undisturbed = Registry.at(shutil.copytree(registry.root, tmp_path / "undisturbed"))
    purged(undisturbed, whole.OTHER)
    before, deadline = current_version(registry, table), time.monotonic() + 120
    process = subprocess.Popen([sys.executable, "-c", PURGE, registry.root])
    while current_version(registry, table) == before and time.monotonic() < deadline:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()

    purged(registry, whole.OTHER)

    for name in SCHEMAS:
        rows, expected = (sorted(read(one, name).to_pylist(), key=_key(name)) for one in (registry, undisturbed))
        assert rows == expected
    assert says(registry, whole.OTHER["prompt"]) == []
    assert told(registry) == told(undisturbed)
