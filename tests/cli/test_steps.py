"""`benchcore run` and its steps: what goes wrong before anything starts, and what is told at the end."""

import json
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from benchcore.cli.summary import as_json, print_summary
from benchcore.pipeline.steps import RunOutcome, StepOutcome
from benchcore.registry.root import Registry
from tests.registry.stored import prompt, store, store_coreset
from tests.registry.test_lock import HOLD

SOURCE = "benchmark: b\npath: '*.jsonl'\nformat: json-lines\nmap: {prompt: '{{ q }}'}\n"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A configuration with one source of one record."""
    (tmp_path / "b.yaml").write_text(SOURCE)
    (tmp_path / "b.jsonl").write_text('{"q": "Why?"}\n')
    (tmp_path / "conf.yaml").write_text("registry: {root: registry}\nsources: {include: [b.yaml], data: .}\n")
    return tmp_path / "conf.yaml"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = execute(app, [str(argument) for argument in arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.mark.parametrize(
    ("settings", "status", "told"),
    [
        (("--set", "select.kk=1"), 2, "unknown key 'select.kk'. Did you mean 'k'?"),
        (("--set", "select.k"), 2, "--set: 'select.k' is not section.key=value"),
        (("--set", "sources.include=[none.yaml]"), 2, "none.yaml: no source file matches"),
        (("--set", "sources.include=[]"), 2, "sources.include: no source is declared"),
        (("--set", "spark.driver_memory=lots"), 2, "spark.driver_memory: 'lots' is no size"),
        (("--set", "spark.driver_memory=9000g"), 1, "too little memory: 8.8 TiB needed"),
        (
            ("--root", "{folder}/conf.yaml/registry"),
            1,
            "conf.yaml/registry: the registry root cannot be written (Not a directory)",
        ),
    ],
)
def test_what_cannot_work_is_told_before_anything_starts(capsys, conf: Path, settings, status: int, told: str):
    """One line with the place, nothing on stdout, no table."""
    given = [setting.format(folder=conf.parent) for setting in settings]
    assert run(capsys, "run", conf, *given)[:2] == (status, "")
    _, _, err = run(capsys, "run", conf, *given)

    assert told in err
    assert err.count("\n") == 1
    assert not list(conf.parent.glob("registry/*/_delta_log"))


def test_too_little_disk_is_told(capsys, conf: Path, monkeypatch: pytest.MonkeyPatch):
    """Both figures."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("usage", "total used free")(9, 9, 1024**2))
    status, _, err = run(capsys, "run", conf)

    assert status == 1
    assert "too little disk: 256 MiB needed, 1 MiB free. Free some, or choose another root" in err


def test_a_locked_registry_is_told_with_who_holds_it(capsys, conf: Path):
    """After the configured wait, of which the waiter speaks."""
    root = conf.parent / "registry"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    status, _, err = run(capsys, "embed", conf, "--set", "registry.lock_timeout_s=0.1")
    holder.communicate()

    assert status == 1
    waiting, error = err.splitlines()
    assert waiting.startswith("benchcore: waiting for 'run theirs.yaml' (process ")
    assert "the registry is locked by 'run theirs.yaml'" in error


def test_selecting_from_nothing_is_told(capsys, conf: Path):
    """With the step that comes first."""
    status, _, err = run(capsys, "select", conf)

    assert status == 1
    assert err.startswith(f"benchcore: error: {conf.parent / 'registry'}: there are no prompts yet. ")
    assert "`benchcore ingest CONF`" in err


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """A registry with one coreset of two picks in two categories."""
    root = str(tmp_path / "registry")
    picks = [prompt("one", 1, category="math"), prompt("two", 1, category="law")]
    store(Registry.at(root), "prompts", picks)
    store_coreset(Registry.at(root), "abcdef", picks)
    return root


def outcome(changed: bool) -> RunOutcome:
    steps = (StepOutcome("ingest", changed, 3.25, {"rows_read": 1200, "rows_quarantined": 0}),)
    return RunOutcome("20260101T000000-000000", changed, steps, "abcdef", Path("/r/reports/abcdef.html"))


def test_the_summary_says_what_was_picked_and_where_the_report_is(capsys, stored: str):
    """Picks by category and benchmark, coverage, certificate, seconds, counts without the noughts."""
    print_summary(stored, outcome(changed=True))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    assert "law 40 1" in lines
    assert "math one 40 1 0.75" in lines
    assert "picks 2 of 80 prompts, 2 benchmarks" in lines
    assert "certificate at least 80.0 % of the optimum (exact upper bound 0.6250)" in lines
    assert "ingest done 3.2 rows read 1,200" in lines
    assert "report: /r/reports/abcdef.html" in lines


def test_a_second_run_prints_the_same_coreset(capsys, stored: str):
    """Only the lines of the steps tell the two apart."""
    said = []
    for changed in (True, False):
        print_summary(stored, outcome(changed))
        said.append(capsys.readouterr().out)

    assert said[0] != said[1]
    assert said[0].partition("steps")[0] == said[1].partition("steps")[0]


def test_json_has_outcome_and_manifest(stored: str):
    """All of it can be written as JSON."""
    told = json.loads(json.dumps(as_json(stored, outcome(changed=True))))

    assert told["coreset_id"] == told["manifest"]["coreset_id"] == "abcdef"
    assert told["steps"][0]["counts"]["rows_read"] == 1200
    assert told["report"].endswith("abcdef.html")
