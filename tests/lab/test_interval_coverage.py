"""How often intervals hold the truth, told by suite and by where they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchcore.cli.main import app
from benchcore.lab.interval_coverage import interval_coverage
from tests.lab.planted import clustered


def test_each_kind_is_told_for_the_budgets_that_it_and_the_suite_have_room_for(tmp_path: Path):
    suite = str(clustered(tmp_path / "a", n=680, models=7, clusters=20))
    rows = interval_coverage([suite], ks=(40, 400, 600), repeats=1, draws=1)

    assert [(row.kind, row.k) for row in rows] == [
        ("design", 40),
        ("design", 400),
        ("model", 40),
        ("model", 400),
        ("audit", 400),
        ("panel of 3", 40),
        ("panel of 3", 400),
    ]
    assert {row.intervals for row in rows if "panel" not in row.kind} == {7}
    assert {row.intervals for row in rows if "panel" in row.kind} == {4}  # half of seven are held out
    for row in rows:
        assert 0.5 <= row.coverage <= 1
        assert row.error < row.width
    told = {(row.kind, row.k): row for row in rows}
    assert told["design", 400].width < told["design", 40].width
    assert told["audit", 400].width > told["model", 400].width  # a fifth of the picks vouches for all


def test_the_command_prints_rows(tmp_path: Path):
    suite = str(clustered(tmp_path / "a", n=100, models=3, clusters=4))
    arguments = ["lab", "intervals", suite, "-k", "20", "--repeats", "2", "--draws", "1"]
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)

    assert {row["kind"] for row in told} == {"design", "model"}  # three models are too few for a panel
    assert "coverage" in CliRunner().invoke(app, arguments).stdout


def test_the_same_seed_gives_the_same_rows(tmp_path: Path):
    suite = str(clustered(tmp_path / "a", n=100, models=3, clusters=4))
    first, again, other = (interval_coverage([suite], ks=(20,), repeats=2, draws=1, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_a_sub_pool_alone_tells_no_spread(tmp_path: Path):
    suite = str(clustered(tmp_path / "a", n=100, models=3, clusters=4))
    [row] = interval_coverage([suite], ks=(20,), repeats=1, draws=1, kinds=("model",))

    assert row.spread != pytest.approx(row.spread)  # not a number
