"""The bench itself, on a few hundred rows: it measures what it says, judges rightly and survives what fails."""

import dataclasses
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from infra.bench import data, values
from infra.bench.__main__ import bench, main
from infra.bench.case import Case, Report, Target
from infra.bench.cases import all_cases
from infra.bench.children import run
from infra.bench.memory import forget_peak, peak
from infra.bench.places import ROOT
from infra.bench.sizes import Sizes
from infra.bench.table import in_words, show_case
from infra.bench.task import Outcome, Task

CASES = all_cases(Sizes(20))


def shown(case: Case, outcomes: dict[Task, Outcome]) -> str:
    out = io.StringIO()
    show_case(Console(file=out, width=200), case, case.report(outcomes), outcomes)
    return out.getvalue()


def test_cases_are_measured_shown_and_written(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    """Every run has its figures, and the same picks come with other threads, tiles and orders of rows."""
    status = main(
        ["--small", "--threads", "1", "--json", str(tmp_path / "bench.json"), "same-picks", "log-determinant"]
    )

    told, found = capfd.readouterr(), json.loads((tmp_path / "bench.json").read_text())
    assert status == 0
    assert "clustered: all the same: yes (met)" in told.out
    assert "1 of 10: " in told.err
    assert found["machine"]["threads"] == "1"
    assert all(target["met"] for target in found["cases"]["same-picks"]["targets"])
    for case in found["cases"].values():
        for each in case["runs"]:
            assert each["outcome"]["picks"] == each["task"]["k"]
            assert min(each["outcome"][figure] for figure in ("seconds", "peak", "value")) > 0


def test_a_run_that_fails_is_told_and_the_others_go_on(capfd: pytest.CaptureFixture[str]):
    """More picks than rows: the child says why, the bench says which, and its status is 1."""
    good, bad = Task(60, 6), Task(60, 600)
    case = Case("mixed", "one of each", (bad, good), lambda outcomes: Report(("k",), (("any",),)))

    status = bench([case], threads=1)

    told = capfd.readouterr()
    assert status == 1
    assert "2 runs in" in told.err
    assert "1 failed" in told.err
    assert re.search(r"failed: benchcore facility_location n=60 k=600: exit status 1: .*UsageError", told.out)


def test_a_child_uses_the_threads_it_is_given(tmp_path: Path):
    """Of the bench, or its own."""
    task = Task(300, 3, engine="product", block=64)

    assert all(library.endswith("threads: 1") for library in run(task, 1, tmp_path).blas)
    assert all(
        library.endswith("threads: 1") for library in run(dataclasses.replace(task, threads=1), 2, tmp_path).blas
    )


@pytest.mark.parametrize("name", CASES)
def test_a_case_shows_all_its_targets_also_when_nothing_could_be_measured(name: str):
    """A missing figure meets no target, and never stops the report."""
    case = CASES[name]
    fine = Outcome(seconds=1.0, peak=2**20, value=5.0, picks=5, digest="same", warm_up=1.0, product=1.0)
    measured = dict.fromkeys(case.tasks, fine)
    failed = dict.fromkeys(case.tasks, Outcome(error="no reason"))

    assert shown(case, failed).count("failed: ") == len(case.tasks)
    assert not any(target.met for target in case.report(failed).targets)
    assert len(case.report(failed).targets) == len(case.report(measured).targets)
    assert "failed" not in shown(case, measured)


def test_picks_that_differ_are_seen():
    """One hash among many is enough."""
    case = CASES["same-picks"]
    outcomes = dict.fromkeys(case.tasks, Outcome(digest="same"))

    assert all(target.met for target in case.report(outcomes).targets)
    outcomes[case.tasks[1]] = Outcome(digest="other")
    assert [target.met for target in case.report(outcomes).targets] == [False, True]


def test_other_tiles_reach_those_who_cut():
    """Modules take the size when they are imported, so it is set before."""
    program = """
import sys
from infra.bench.child import set_tiles
set_tiles(384)
from benchcore.submodular.objectives import facility_location
sizes = [vars(module)["SIDE"] for module in sys.modules.values() if "SIDE" in vars(module)]
sys.exit(set(sizes) != {384})
"""

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_unknown_cases_are_refused(capsys: pytest.CaptureFixture[str]):
    """With the names that there are."""
    assert main(["growht"]) == 2
    assert "growth" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Target("time", 3.0, 2.5), "time: 2.5, target at most 3 (met)"),
        (Target("time", 3.0, 3.5, " s"), "time: 3.5 s, target at most 3 s (not met)"),
        (Target("times faster", 15.0, 14.0, at_least=True), "times faster: 14, target at least 15 (not met)"),
        (Target("time", 3.0, None), "time: not measured"),
    ],
)
def test_targets_in_words(target: Target, words: str):
    """The promise beside what was measured."""
    assert words == in_words(target)


def test_data_is_the_same_every_time_and_is_what_it_is_called():
    """Unit rows; 2 % exact duplicates in the clustered, three in four rows not their own in the heavy kind."""
    for kind in ("clustered", "random", "duplicates"):
        rows = data.vectors(kind, 1000)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        assert (rows == data.vectors(kind, 1000)).all()
    distinct = {
        kind: len(np.unique(data.vectors(kind, 1000), axis=0)) for kind in ("clustered", "random", "duplicates")
    }

    assert distinct["random"] == 1000
    assert 975 <= distinct["clustered"] < 1000
    assert distinct["duplicates"] <= 500


def test_groups_are_unequal_and_hold_topics_together():
    """All forty, the largest about forty times the smallest."""
    sizes = np.bincount(data.groups(8200))

    assert len(sizes) == 40
    assert (sizes == 10 * np.arange(1, 41)).all()


def test_features_have_as_many_a_row_as_they_say():
    """In ascending order without repetition, positive."""
    rows = data.features(300)

    assert (np.diff(rows.indptr) == data.ENTRIES).all()
    assert rows.has_canonical_format
    assert rows.data.min() > 0


def test_the_judge_agrees_with_the_definition():
    """On orthogonal rows every value is known."""
    rows, picks = np.eye(6, dtype=np.float32), np.array([1, 4])

    assert values.coverage(rows, picks) == 2
    assert values.log_determinant(rows, picks) == pytest.approx(2 * np.log(2))
    assert values.concave_sum(4 * rows, picks) == 4


def test_peak_memory_forgets_what_was_freed():
    """What was taken before the run is no part of it, what is taken in it is."""
    large = np.ones(20_000_000)
    with_it = peak()
    del large
    forget_peak()
    without = peak()
    np.ones(10_000_000)

    assert with_it - without > 100 * 2**20
    assert peak() - without > 60 * 2**20
