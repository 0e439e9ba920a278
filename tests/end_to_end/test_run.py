"""One command from raw files to a coreset, through real Spark, Delta and Ray, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchcore.config import load_config, load_sources
from benchcore.pipeline.steps import run
from tests.end_to_end import books, commands
from tests.end_to_end.conftest import TwiceAtOnce


@pytest.fixture(scope="module")
def folder(twice_at_once: TwiceAtOnce) -> Path:
    """The registry that two identical runs, started at once, have written; the tests go on from there, in order."""
    return twice_at_once.folder


def test_two_runs_at_once_leave_one_coreset_and_balanced_books(twice_at_once: TwiceAtOnce) -> None:
    """Neither ends badly or loses or doubles a row, and every row read is accounted for."""
    for ended in twice_at_once.ended:
        assert ended.status == 0, ended.err
        assert "Traceback" not in ended.err
    first, second = (json.loads(ended.out)["coreset_id"] for ended in twice_at_once.ended)
    tables = twice_at_once.contents

    assert first == second
    assert len(tables["manifests"]) == 1
    assert sorted(json.loads(tables["manifests"][0]["encoders"])) == ["embedding", "ngrams", "surface"]
    assert len(tables["coresets"]) == 20
    assert [row["rank"] for row in tables["coresets"]] == list(range(20))


def test_the_traps_are_told_apart(folder: Path) -> None:
    """A broken line and an empty prompt are quarantined with their reasons, a repeated record is a duplicate."""
    tables = books.contents(folder / "registry")
    reasons = sorted(row["reason"] for row in tables["quarantine"])
    odd = [row for row in tables["prompts"] if row["prompt"] == "Odd\u2028line"]
    duplicates = [row for row in tables["prompts"] if row["duplicate_of"]]

    assert len(reasons) == 2
    assert any("empty" in reason for reason in reasons)
    assert len(odd) == 1
    assert [row["benchmark"] for row in duplicates] == ["arithmetic"]


def test_benchmarks_are_balanced_and_weights_sum_to_one(folder: Path) -> None:
    """Twenty picks over six benchmarks: three or four each, every benchmark with the same weight in the suite."""
    tables = books.contents(folder / "registry")
    benchmark = {row["prompt_id"]: row["benchmark"] for row in tables["coresets"]}
    counts = np.unique(list(benchmark.values()), return_counts=True)[1]
    suite = [row for row in tables["coreset_weights"] if row["target"] == "suite"]
    by_benchmark = {
        name: sum(row["weight"] for row in suite if benchmark[row["prompt_id"]] == name)
        for name in set(benchmark.values())
    }

    assert sorted(counts) == [3, 3, 3, 3, 4, 4]
    assert np.allclose(list(by_benchmark.values()), 1 / 6)
    for target in {row["target"] for row in tables["coreset_weights"]}:
        total = sum(row["weight"] for row in tables["coreset_weights"] if row["target"] == target)
        assert np.isclose(total, 1.0), target


def test_run_again_changes_nothing_even_from_another_data_folder(folder: Path) -> None:
    """No table gets a new version, also after the data moved."""
    before = books.versions(folder / "registry")
    (folder / "data").rename(folder / "moved")
    again = commands.run(folder, "run", str(folder / "conf.yaml"), "--set", "sources.data=moved")
    (folder / "moved").rename(folder / "data")

    assert again.status == 0, again.err
    assert books.versions(folder / "registry") == before
    assert list((folder / "registry").glob("**/*.html"))


def test_an_edited_record_gets_a_revision_and_a_removed_one_retires(folder: Path, spark: Any) -> None:
    """Only what changed in a file changes in the table; by the step in this process, where Spark runs already."""
    path = folder / "data" / "letters_en.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    before = books.contents(folder / "registry")["prompts"]
    path.write_text("\n".join(["Dear reader, this line is new.\tyes", *lines[1:]]) + "\n", encoding="utf-8")
    config = load_config(folder / "conf.yaml")
    changed = run(config, load_sources(config), steps=("ingest",), isolate=False)
    after = books.contents(folder / "registry")["prompts"]
    was, now = ({row["prompt_id"]: row for row in rows} for rows in (before, after))

    assert changed.changed
    books.check_accounting(folder / "registry")
    assert sum(now[key]["retired"] and not was[key]["retired"] for key in was) == 1
    assert [now[key]["prompt"] for key in now.keys() - was.keys()] == ["Dear reader, this line is new."]
    assert all(was[key] == now[key] for key in was if not now[key]["retired"])
