"""Laws of all harnesses: what they read, and what comes back of what they were given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness import HARNESSES
from benchcore.harness.exporting import ExportOptions, export_coreset
from benchcore.harness.importing import import_logs
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.notes import Notes
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin, read
from tests.harness.sample_logs import MODEL, SAMPLES
from tests.registry.stored import prompt, store, store_coreset

SCORES = [1.0, 0.0, 1.0, 1.0]
HOSTILE = ("../../escape", "/etc/passwd", "a,b;c *[?]", "line\nbreak $(touch x) `y`", "e" * 400, "', \"", "-x --y")

with_sample = pytest.mark.parametrize("name", list(SAMPLES))
with_export = pytest.mark.parametrize("name", [name for name in SAMPLES if HARNESSES[name].export is not None])


def rows_of(count: int = 4) -> list[dict[str, Any]]:
    """Prompts with choices, the right one among them, as most harnesses can ask them."""
    return [
        prompt(
            "tides",
            number,
            prompt=f"Which of the harbours of Ombra is number {number} on the pilot's list?",
            choices=[f"harbour {number}", f"bay {number}", f"cape {number}", f"sound {number}"],
            answer=f"harbour {number}",
            record_id=f"r{number}",
        )
        for number in range(count)
    ]


def hostile_rows() -> list[dict[str, Any]]:
    """Prompts whose texts and ids are meant to do harm."""
    return [
        prompt(
            "tides",
            number,
            prompt=f"Number {number} of the lines in the pilot's book reads {text}, does it not?",
            choices=[text, f"no {number}"],
            answer=text,
            record_id=text,
        )
        for number, text in enumerate(HOSTILE)
    ]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.at(tmp_path / "registry")


def log_of(name: str, folder: Path, rows: list[dict[str, Any]], scores: list[float]) -> Path:
    folder.mkdir()
    return SAMPLES[name](folder, rows, scores)


def stored_scores(registry: Registry) -> dict[str, float]:
    return {row["prompt_id"]: row["score"] for row in read(registry, "scores").to_pylist()}


def test_every_harness_that_reads_logs_has_a_sample():
    """So that no harness escapes the laws."""
    reading = {name for name, harness in HARNESSES.items() if harness.results is not None}

    assert reading - set(SAMPLES) == set()


@with_sample
def test_reading_twice_gives_the_same(name: str, tmp_path: Path):
    """Results in the same order with the same contents."""
    log = log_of(name, tmp_path / "log", rows_of(), SCORES)
    read_results = HARNESSES[name].results
    assert read_results is not None

    first, second = list(read_results(log, Notes())), list(read_results(log, Notes()))

    assert first == second
    assert len(first) >= len(SCORES)


@with_sample
def test_hashes_of_documents_know_no_order(name: str, tmp_path: Path):
    """The same documents in another order have the same hashes: positions name nothing."""
    rows = rows_of()
    read_results = HARNESSES[name].results
    assert read_results is not None

    logs = [log_of(name, tmp_path / "one", rows, SCORES), log_of(name, tmp_path / "two", rows[::-1], SCORES)]
    first, second = ({found.document.document_hash for found in read_results(log, Notes())} for log in logs)

    assert len(first) == len(rows)
    assert first == second


@with_sample
def test_what_is_no_log_is_refused(name: str, tmp_path: Path):
    """In words, as one of the project's errors, or as a note: never silently and never with a traceback."""
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "results.jsonl").write_text("this is no log\n")
    read_results, notes = HARNESSES[name].results, Notes()
    assert read_results is not None

    try:
        found = list(read_results(folder, notes))
    except BenchcoreError:
        return
    assert found == []
    assert notes.counts


@with_sample
def test_an_import_binds_all_and_a_second_one_adds_nothing(name: str, registry: Registry, tmp_path: Path):
    """Scores arrive with the prompts that they belong to; the second import leaves every version as it is."""
    rows = rows_of()
    store(registry, "prompts", rows)
    log = log_of(name, tmp_path / "log", rows, SCORES)

    imported = import_logs(registry, name, HARNESSES[name], [log], ImportOptions())
    before = pin(registry, tuple(SCHEMAS))
    again = import_logs(registry, name, HARNESSES[name], [log], ImportOptions())
    replacing = import_logs(registry, name, HARNESSES[name], [log], ImportOptions(replace=True))

    assert stored_scores(registry) == {row["prompt_id"]: score for row, score in zip(rows, SCORES, strict=True)}
    assert imported.models == (MODEL,)
    assert imported.matched == imported.results
    assert (again.changed, again.scores, again.bindings) == (False, 0, 0)
    assert (replacing.changed, replacing.scores) == (False, 0)
    assert pin(registry, tuple(SCHEMAS)) == before


@with_sample
def test_hostile_texts_do_no_harm_on_the_way_in(name: str, registry: Registry, tmp_path: Path):
    """They are bound as any other, and nothing is written outside of the registry."""
    rows = hostile_rows()
    store(registry, "prompts", rows)
    log = log_of(name, tmp_path / "log", rows, [1.0] * len(rows))
    before = _files(tmp_path)

    import_logs(registry, name, HARNESSES[name], [log], ImportOptions())

    assert set(stored_scores(registry)) == {row["prompt_id"] for row in rows}
    assert _files(tmp_path) == before


@with_export
def test_an_export_is_whole_repeatable_and_stays_in_its_folder(name: str, registry: Registry, tmp_path: Path):
    """Hostile prompts included: the same files with the same bytes, none of them elsewhere."""
    rows = [*rows_of(), *hostile_rows()]
    store(registry, "prompts", rows)
    store_coreset(registry, "abc", rows)
    log = log_of(name, tmp_path / "log", rows, [1.0] * len(rows))
    manifest, options = resolve_manifest(registry, "abc"), ExportOptions(documents=(log,))
    before = _files(tmp_path)

    outcome = export_coreset(registry, manifest, name, HARNESSES[name], tmp_path / "out", options=options)
    first = _contents(tmp_path / "out")
    export_coreset(registry, manifest, name, HARNESSES[name], tmp_path / "out", options=options)

    assert outcome.exported == len(rows) - sum(outcome.left_out.values())
    assert outcome.exported >= len(rows_of())
    assert outcome.command in (tmp_path / "out" / "README.md").read_text()
    assert {Path(file).parts[0] for file in outcome.files} <= {file.parts[0] for file in map(Path, first)}
    assert _contents(tmp_path / "out") == first
    assert {file for file in _files(tmp_path) - before if not file.startswith("out/")} == set()


@with_export
def test_an_export_never_takes_a_folder_that_is_not_its_own(name: str, registry: Registry, tmp_path: Path):
    """A folder with anything else in it is refused and stays as it is."""
    rows = rows_of()
    store(registry, "prompts", rows)
    store_coreset(registry, "abc", rows)
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    log = log_of(name, tmp_path / "log", rows, SCORES)

    with pytest.raises(UsageError, match="not empty"):
        export_coreset(
            registry,
            resolve_manifest(registry, "abc"),
            name,
            HARNESSES[name],
            out,
            options=ExportOptions(documents=(log,)),
        )

    assert _contents(out) == {"thesis.tex": b"mine"}


def _files(folder: Path) -> set[str]:
    """All files below a folder but the registry's."""
    named = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    return {name for name in named if not name.startswith("registry/")}


def _contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in sorted(_files(folder))}
