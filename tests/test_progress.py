"""Progress away from a terminal: the same figures in a line for people and in one for machines."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from benchcore import progress as telling
from benchcore.errors import UsageError
from benchcore.pipeline.logs import LogStyle, configure_logging


@pytest.fixture(autouse=True)
def _process_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logging as it was, and a line after every step meanwhile."""
    monkeypatch.setattr(telling, "_SECONDS_BETWEEN_LINES", 0.0)
    root, ours = logging.getLogger(), logging.getLogger("benchcore")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def work() -> None:
    with telling.progress("local greedy", 50, "shards") as advance:
        advance(20)
        advance(30)


def test_lines_for_machines_have_every_figure(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """One JSON object each, also at the end, and for lines that are no progress."""
    monkeypatch.setenv("BENCHCORE_LOG", "json")
    configure_logging(LogStyle())
    work()
    logging.getLogger("benchcore.distributed").warning("a checkpoint is broken")
    *told, other = [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    assert [(line["round"], line["done"], line["total"], line["unit"]) for line in told] == [
        ("local greedy", done, 50, "shards") for done in (20, 50, 50)
    ]
    assert told[0]["rate"] > 0
    assert told[0]["seconds_left"] == pytest.approx(30 / told[0]["rate"])
    assert told[-1]["seconds_left"] == 0
    assert told[0]["memory_bytes"] > 10**7
    assert (other["level"], other["logger"], other["message"]) == (
        "warning", "benchcore.distributed", "a checkpoint is broken",
    )  # fmt: skip


def test_lines_for_people_have_them_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Done, rate, time left and memory of all processes."""
    monkeypatch.delenv("BENCHCORE_LOG", raising=False)
    configure_logging(LogStyle())
    work()
    first = capsys.readouterr().err.splitlines()[0]

    assert first.startswith("benchcore: local greedy: 20 of 50 shards, ")
    assert first.endswith(" in all processes here")


def test_an_unknown_format_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Before anything is logged in it."""
    monkeypatch.setenv("BENCHCORE_LOG", "xml")
    with pytest.raises(UsageError, match="'xml' is no format of logs"):
        configure_logging(LogStyle())
