"""Text from outside on terminals and in logs: it shows what it holds and steers nothing."""

from __future__ import annotations

import json
import logging

import pytest

from benchcore.cli.output import print_json, print_line, print_table
from benchcore.errors import BenchcoreError
from benchcore.pipeline.logs import LogStyle, configure_logging

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066\r"


def is_harmless(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


def test_errors_quote_without_being_steered():
    """An id, a path or a field of a record, of whatever part of the message."""
    error = BenchcoreError(f"the id '{STEERING}' collides", where=f"a{STEERING}.jsonl", mend=f"Mend {STEERING}.")

    assert is_harmless(str(error))
    assert "\\u001b]0;owned\\u0007" in str(error)


def test_log_lines_cannot_be_forged(capsys: pytest.CaptureFixture[str]):
    """What follows a line feed in a quoted text does not begin as a line of ours does."""
    configure_logging(LogStyle())
    logging.getLogger("benchcore.x").warning("field '%s' is missing", f"a{STEERING}\nbenchcore: run: done")
    shown = capsys.readouterr().err

    assert is_harmless(shown)
    assert [line for line in shown.splitlines() if line.startswith("benchcore: ")] == shown.splitlines()[:1]


def test_results_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]):
    """Lines, tables with what would be markup, and JSON, which still means the same."""
    print_line(f"warning: {STEERING}")
    print_table(None, ("benchmark",), [(f"[red]{STEERING}[/red]",)])
    plain = capsys.readouterr().out
    print_json({"benchmark": STEERING})
    document = capsys.readouterr().out

    assert is_harmless(plain)
    assert "[red]" in plain
    assert is_harmless(document)
    assert json.loads(document) == {"benchmark": STEERING}
