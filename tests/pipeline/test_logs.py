"""Logs for machines: each line is a JSON object that says which run it is of."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from benchcore.pipeline.isolation import run_isolated
from benchcore.pipeline.logs import LogStyle, configure_logging, name_run
from benchcore.registry.runs import RUN_ID


@pytest.fixture
def in_json(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BENCHCORE_LOG", "json")
    yield
    monkeypatch.undo()
    configure_logging(LogStyle())


def say_something() -> None:
    logging.getLogger("benchcore.ingest").info("from the child")


def test_every_line_carries_the_id_of_its_run(in_json, capfd: pytest.CaptureFixture[str]):
    """Those of a process that the run has started, too."""
    configure_logging(LogStyle())
    name_run("20260101T000000-abcdef")
    logging.getLogger("benchcore").info("from the parent")
    run_isolated(say_something)

    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line["message"] for line in lines] == ["from the parent", "from the child"]
    assert {line["run_id"] for line in lines} == {"20260101T000000-abcdef"}


def test_the_line_of_an_error_carries_it_too(in_json, capfd: pytest.CaptureFixture[str], tmp_path: Path):
    """A run has its id before it waits for the lock, so no line is without one."""
    conf = tmp_path / "conf.yaml"
    conf.write_text("registry: {root: ./registry}\n")

    assert execute(app, ["embed", str(conf), "--run-id", "nightly"]) == 1

    (line,) = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert (line["level"], line["exit_status"]) == ("error", 1)
    assert "there are no prompts yet" in line["message"]
    assert RUN_ID.match(line["run_id"])
    assert line["run_id"].endswith("-nightly")
