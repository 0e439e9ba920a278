"""Every invariant of the tables: nothing is said of a registry that is whole, and each kind of damage is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

from benchcore.registry.checks.everything import check
from benchcore.registry.checks.finding import Finding
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.registry import whole
from tests.registry.stored import edit, prompt, store
from tests.registry.whole import account, binding, quarantined, score

Damage = Callable[[Registry], None]


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whole") / "registry"
    whole.write_whole(Registry.at(root))
    return root


@pytest.fixture
def registry(undamaged: Path, tmp_path: Path) -> Registry:
    """A copy to be damaged."""
    return Registry.at(shutil.copytree(undamaged, tmp_path / "registry"))


def found(registry: Registry) -> list[Finding]:
    return check(Snapshot.of(registry))


def told(findings: list[Finding]) -> list[tuple[str, str, str, int]]:
    return [(finding.severity, finding.check, finding.where, finding.count) for finding in findings]


def test_a_registry_that_is_whole_has_no_finding(registry: Registry):
    """Nor has one that is empty."""
    assert found(registry) == []
    assert found(Registry.at(Path(registry.root) / "empty")) == []


def edited(table: str, *rows: Mapping[str, Any]) -> Damage:
    return lambda registry: edit(registry, table, rows)


def added(table: str, *rows: Mapping[str, Any]) -> Damage:
    return lambda registry: store(registry, table, rows)


def doubled(table: str) -> Damage:
    """Write the first row of a table once more, as two writers without a lock would."""

    def damage(registry: Registry) -> None:
        row = DeltaTable(registry.uri(table)).to_pyarrow_table().slice(0, 1)
        write_deltalake(registry.uri(table), row, mode="append")

    return damage


def without(table: str, column: str, value: object) -> Damage:
    """Drop rows of a table."""

    def damage(registry: Registry) -> None:
        rows = read(registry, table, where=pc.field(column) != value)
        write_deltalake(registry.uri(table), rows, mode="overwrite")

    return damage


def without_files(table: str) -> Damage:
    def damage(registry: Registry) -> None:
        for file in Path(registry.uri(table)).rglob("*.parquet"):
            file.unlink()

    return damage


def vacuumed(table: str) -> Damage:
    """Leave the newest version alone, by a vacuum that knows no manifests."""

    def damage(registry: Registry) -> None:
        edit(registry, table, [])
        DeltaTable(registry.uri(table)).vacuum(0, dry_run=False, enforce_retention_duration=False)

    return damage


def without_log(table: str) -> Damage:
    return lambda registry: next(Path(registry.uri(table)).glob("_delta_log/*.json")).write_text("{")


BROKEN: dict[str, tuple[Damage, list[tuple[str, str, int]]]] = {
    "an account that does not add up": (
        edited("sources", account("two", 3, 2, 0, 0)),
        [("accounting", "sources", 1)],
    ),
    "a prompt that no account has": (
        added("prompts", prompt("two", 5)),
        [("accounting", "prompts", 1)],
    ),
    "a prompt that is lost": (
        without("prompts", "prompt_id", whole.SPARE["prompt_id"]),
        [("accounting", "prompts", 1)],
    ),
    "a copy that is no copy any more": (
        edited("prompts", whole.COPY | {"duplicate_of": None}),
        [("accounting", "prompts", 1)],
    ),
    "prompts of a file that was never read": (
        added("prompts", prompt("three", 1)),
        [("accounting", "prompts", 1)],
    ),
    "a row of quarantine too many": (
        added("quarantine", quarantined("two", 5)),
        [("accounting", "quarantine", 1)],
    ),
    "a key that stands twice": (
        doubled("coreset_weights"),
        [("keys", "coreset_weights", 2), ("weights", "coreset_weights", 1)],
    ),
    "a copy of nothing": (
        edited("prompts", whole.ALONE | {"duplicate_of": "nothing"}),
        [("orphans", "prompts", 1)],
    ),
    "a copy of what is retired": (
        edited("prompts", whole.ALONE | {"duplicate_of": whole.GONE["prompt_id"]}),
        [("orphans", "prompts", 1)],
    ),
    "picks without manifest": (
        without("manifests", "k", 2),
        [("orphans", "coresets", 2), ("orphans", "coreset_weights", 2)],
    ),
    "a coreset that lacks a pick": (
        without("coresets", "rank", 1),
        [("picks", "coresets", 1), ("orphans", "coreset_weights", 1)],
    ),
    "a weight that is lost": (
        without("coreset_weights", "prompt_id", whole.OTHER["prompt_id"]),
        [("weights", "coreset_weights", 1)],
    ),
    "a pick that is gone": (
        without("prompts", "prompt_id", whole.ALONE["prompt_id"]),
        [("accounting", "prompts", 1), ("orphans", "coresets", 1)],
    ),
    "scores of a prompt that there is not": (
        added("scores", score(prompt("three", 1)), score(prompt("three", 1), epoch=2)),
        [("orphans", "scores", 2)],
    ),
    "a binding of a prompt that there is not": (
        added("bindings", binding(prompt("three", 1))),
        [("orphans", "bindings", 1)],
    ),
    "scores that are none": (
        added("scores", score(whole.OTHER, epoch=2, score=1.5), score(whole.OTHER, epoch=3, score=float("nan"))),
        [("values", "scores", 2)],
    ),
    "data files that are lost": (
        without_files("scores"),
        [("files", "scores", 1)],
    ),
    "a log that is damaged": (
        without_log("scores"),
        [("readable", "scores", 1)],
    ),
    "a pinned version without files": (
        vacuumed("sources"),
        [("pins", "sources", 1)],
    ),
    "a pinned version without log": (
        lambda registry: shutil.rmtree(registry.uri("embeddings")),
        [("pins", "embeddings", 1)],
    ),
    "a table that others cannot read": (
        lambda registry: DeltaTable(registry.uri("scores")).alter.set_table_properties(
            {"delta.enableDeletionVectors": "true"}
        ),
        [("readable", "scores", 2)],
    ),
}


@pytest.mark.parametrize(("damage", "expected"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_named(registry: Registry, damage: Damage, expected: list[tuple[str, str, int]]):
    """Where, how often, and with what mends it."""
    damage(registry)

    broken = [finding for finding in found(registry) if finding.severity == "broken"]
    named = [(finding.check, finding.where.removeprefix(f"{registry.root}/"), finding.count) for finding in broken]
    assert sorted(named) == sorted(expected)
    assert all(finding.mend and "\n" not in finding.line for finding in broken)


def test_one_damage_hides_no_other(registry: Registry):
    """What needs the damaged table is left out, everything else is checked."""
    without_log("prompts")(registry)
    edit(registry, "sources", [account("two", 3, 2, 0, 0)])

    assert told(found(registry)) == [
        ("broken", "readable", "prompts", 1),
        ("broken", "accounting", "sources", 1),
    ]


def test_a_finding_says_where_how_often_and_what_mends_it(registry: Registry):
    """In one line, with the first few."""
    store(registry, "bindings", [binding(prompt("three", 1), document_hash=f"{n}") for n in range(7)])

    (finding,) = found(registry)

    name = prompt("three", 1)["prompt_id"]
    assert finding.line == (
        f"bindings: 7 rows of unknown prompts ({name}, ...). If these prompts are not to come back, "
        "`benchcore registry purge --prompt ID` removes their rows."
    )


def test_changed_and_retired_picks_make_a_coreset_stale_not_broken(registry: Registry):
    """It stays what it was."""
    retired = whole.ALONE | {"retired_at": whole.GONE["retired_at"]}
    edit(registry, "prompts", [whole.OTHER | {"content_hash": "new", "revision": 2}, retired])
    edit(registry, "sources", [account("two", 1, 1, 0, 0)])

    (finding,) = found(registry)

    assert (finding.severity, finding.check, finding.count) == ("notice", "stale", 1)
    assert finding.examples == (f"{whole.CORESET}: of 2 picks 1 edited, 1 retired",)


def test_documents_that_an_earlier_log_shows_are_duplicates_without_a_prompt(registry: Registry):
    """Of a harness's logs alone: of any other source each duplicate is a prompt."""
    edit(registry, "sources", [account("two", 3, 2, 1, 0)])
    assert told(found(registry)) == [("broken", "accounting", "prompts", 1)]

    document = '{"document": {"harness": "lm-eval", "task": "t", "hash": "h"}}'
    edit(registry, "prompts", [row | {"metadata": document} for row in (whole.ELSEWHERE, whole.ALONE)])

    assert found(registry) == []


def test_what_another_vacuum_would_take_is_told(registry: Registry):
    """A table without our retention keeps files for a week only, whatever is pinned."""
    table = DeltaTable(registry.uri("prompts"))
    table.alter.set_table_properties({"delta.deletedFileRetentionDuration": "interval 0 hours"})
    edit(registry, "prompts", [])

    assert told(found(registry)) == [
        ("notice", "retention", registry.root, 1),
        ("notice", "pins", "prompts", 1),
    ]


def test_columns_of_other_releases_are_told(registry: Registry):
    """Missing and unknown ones do no harm; another type does."""
    rows = read(registry, "scores").drop_columns("measured_at").append_column("mood", [["good", "bad"]])
    write_deltalake(registry.uri("scores"), rows, mode="overwrite", schema_mode="overwrite")
    assert [(finding.severity, finding.examples) for finding in found(registry)] == [
        ("notice", ("measured_at",)),
        ("notice", ("mood",)),
    ]

    rows = rows.set_column(0, "model", [[1, 2]])
    write_deltalake(registry.uri("scores"), rows, mode="overwrite", schema_mode="overwrite")
    assert [finding.examples for finding in found(registry) if finding.severity == "broken"] == [
        ("model is int64, not string",)
    ]


def test_a_run_that_did_not_end_by_itself_is_told_with_what_it_left(registry: Registry):
    """As long as it is under way, what it stages is its own business."""
    staged = Path(registry.sidecar("_staging", "ingest", "run", "part.parquet"))
    staged.parent.mkdir(parents=True)
    staged.write_text("text")
    note = Path(registry.root) / "_lock.json"
    with writer_lock(registry, "run theirs.yaml"):
        (under_way,) = found(registry)
        left = note.read_text()
    note.write_text(left)

    assert "run is under way ('run theirs.yaml'" in under_way.line
    assert [(finding.check, finding.what.split(" (")[0]) for finding in found(registry)] == [
        ("lock", "run did not end by itself"),
        ("leftovers", "files"),
    ]
