"""`benchcore lab compare`: from folders to rows, and wrong arguments in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from tests.lab.planted import clustered

FIELDS = {
    "suite", "method", "estimator", "k", "mae", "rmse", "mre", "bias", "worst_model", "kendall_tau", "top1_regret",
    "ratio", "ratio_low", "ratio_high", "score_free", "is_default", "seconds",
}  # fmt: skip


def test_rows_are_written_and_tables_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = clustered(tmp_path / "a", n=80, clusters=4)
    command = [
        "lab", "compare", str(folder), "--k", "10,20", "--repeats", "2", "--draws", "2", "--methods", "kmeans",
        "--estimators", "macro,plain", "--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "rows.json"),
        "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    status = execute(app, command)

    rows = json.loads((tmp_path / "rows.json").read_text())
    assert status == 0
    assert all(set(row) >= FIELDS for row in rows)
    assert {(row["method"], row["estimator"], row["k"]) for row in rows} == {
        (method, estimator, k) for method in ("random", "kmeans") for estimator in ("macro", "plain") for k in (10, 20)
    }
    assert (tmp_path / "out" / "rows.csv").read_text().startswith("suite,method,estimator,k,picks,mae,")
    assert (tmp_path / "out" / "figures" / "error_by_budget.svg").is_file()
    assert "a: error with macro weights, relative to the control" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--k", "ten"], "'ten' is no whole number above 0"),
        (["--k", "1"], "below the number of benchmarks"),
        (["--methods", "kmean"], "Did you mean 'kmeans'?"),
        (["--estimators", "macr"], "Did you mean 'macro'?"),
        (["--split", "strong"], "Did you mean 'strongest'?"),
        (["--ablate", "shuffle"], "Did you mean 'shuffled'?"),
        (["--features", "vectors"], "unknown feature block 'vectors'"),
        (["--repeats", "0"], "must be at least 1"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
):
    folder = clustered(tmp_path / "a", n=80, clusters=4)

    assert execute(app, ["lab", "compare", str(folder), *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert said in error and len(error.splitlines()) == 1
