"""`benchcore select --dry-run`: the plan through the command, with nothing started and nothing written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchcore.cli.main import app, execute
from benchcore.config import Config
from benchcore.distributed import preview as previewing
from tests.pipeline.prepared import SIZES, prepared

WHOLE = sum(SIZES.values())


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small registry in shards of about ten prompts, merged in a tree, and its configuration."""
    folder = tmp_path_factory.mktemp("dry")
    select = {"k": 10, "workers": 2, "method": "facility_location", "shard_size": 10, "merge_gb": 2e-6}
    config: Config = prepared(folder, select=select)
    (folder / "conf.yaml").write_text(yaml.safe_dump(json.loads(config.model_dump_json())))
    return folder / "conf.yaml"


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def dry(capsys: pytest.CaptureFixture[str], conf: Path, *arguments: str) -> tuple[int, str, str]:
    status = execute(app, ["select", str(conf), "--dry-run", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_it_shows_the_plan_and_leaves_no_trace(capsys, conf: Path):
    """Shards, merges by level, every round, what is there; no engine was imported."""
    before = files(conf.parent)
    status, out, err = dry(capsys, conf)
    lines = [" ".join(line.split()) for line in out.splitlines()]

    assert (status, err) == (0, "")
    assert files(conf.parent) == before
    assert any(line.startswith("shards 8, of ") for line in lines)
    assert any(line.startswith("level 2 ") for line in lines)
    assert "there already nothing" in lines
    assert {"start", "local", "coverage", "certificate", "write"} <= {line.split(" ")[0] for line in lines if line}


def test_json_has_the_same_and_adds_up(capsys, conf: Path):
    """Sizes of shards, candidates of merges, seconds and bytes of rounds."""
    status, out, _ = dry(capsys, conf, "--json")
    told = json.loads(out)
    plan = told["plan"]

    assert (status, told["fits"], told["distinct"]) == (0, True, WHOLE)
    assert plan["shards"]["number"] == 8
    assert plan["depth"] == WHOLE
    assert plan["merges"][-1]["merges"] == 1
    assert len(plan["merges"]) > 1
    assert told["seconds"] == pytest.approx(sum(part["seconds"] for part in plan["rounds"]), abs=0.1)
    assert told["memory"] == max(part["memory"] for part in plan["rounds"])


def test_neighbours_are_shown_where_there_are_some(capsys, conf: Path):
    """As what each prompt looks at in a merge, and in the plan; not without."""
    settings = ("--set", "select.neighbours=3", "--set", "select.merge_gb=1")
    _, out, _ = dry(capsys, conf, *settings)
    plan = json.loads(dry(capsys, conf, "--json", *settings)[1])["plan"]

    assert "each prompt looks at the 3 nearest" in " ".join(out.split())
    assert plan["neighbours"] == 3
    assert "neighbours" not in json.loads(dry(capsys, conf, "--json")[1])["plan"]


def test_too_few_neighbours_are_a_wrong_configuration(capsys, conf: Path):
    """Status 2 and one line that names the setting; so is a method that has no merges."""
    for settings in (("select.neighbours=0",), ("select.neighbours=3", "select.method=nested_swaps")):
        status, _, err = dry(capsys, conf, *(word for setting in settings for word in ("--set", setting)))

        assert (status, err.count("\n")) == (2, 1)
        assert "select.neighbours" in err


def test_the_default_method_is_planned_too(capsys, conf: Path):
    """On the whole pool, without merges and without certificate."""
    plan = json.loads(dry(capsys, conf, "--json", "--set", "select.method=nested_swaps")[1])["plan"]

    assert (plan["way"], plan["merges"], plan["certificate"]) == ("whole pool", [], "none")


def test_what_does_not_fit_is_status_1_and_one_line(capsys, conf: Path, monkeypatch: pytest.MonkeyPatch):
    """After the plan; the line says how much would do."""
    monkeypatch.setattr(previewing, "free_memory", lambda: 1024)
    status, out, err = dry(capsys, conf)

    assert status == 1
    assert "level 1" in out
    assert err.count("\n") == 1
    assert "GiB of memory (in the round '" in err


def test_the_scheduled_script_takes_it_and_starts_no_engine(conf: Path):
    """In a process of its own, where every module that is imported is told."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", root / "jobs/selection.py", conf, "--dry-run", "--json"],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip

    assert json.loads(done.stdout)["plan"]["shards"]["number"] == 8
    assert "benchcore.distributed.preview" in done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not imported & {"ray", "ray._raylet", "pyspark", "torch"}
