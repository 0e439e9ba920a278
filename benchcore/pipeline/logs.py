"""Logging of a command and of the processes it starts: lines on stderr, other people's libraries when they warn.

With BENCHCORE_LOG=json each line is a JSON object, for a scheduler's collector.
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson

from benchcore.errors import UsageError
from benchcore.masking import masked
from benchcore.progress import LOG_VARIABLE, logs_are_json
from benchcore.visible_text import visible


@dataclass(frozen=True)
class LogStyle:
    """How much is said.

    Attributes:
        quiet: warnings and errors only.
        debug: our debugging lines, with the module that says them.
        run_id: of the run that is under way; each line in JSON carries it.
    """

    quiet: bool = False
    debug: bool = False
    run_id: str | None = None

    @property
    def level(self) -> int:
        """The level of benchcore's own loggers."""
        if self.debug:
            return logging.DEBUG
        return logging.WARNING if self.quiet else logging.INFO


_current = LogStyle()


def configure_logging(style: LogStyle) -> None:
    """Send log lines to stderr in this process; calling it again replaces the earlier style.

    Raises:
        UsageError: BENCHCORE_LOG is neither `json` nor `text`.
    """
    global _current  # noqa: PLW0603  (logging is global to a process, and so is the style a child process takes over)
    _current = style
    handler = _StderrHandler()
    if os.environ.get(LOG_VARIABLE, "text") not in ("text", "json", ""):
        raise UsageError(f"'{os.environ[LOG_VARIABLE]}' is no format of logs", LOG_VARIABLE, "There are text and json.")
    handler.setFormatter(_JsonFormatter() if logs_are_json() else _Formatter(style.debug))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    logging.getLogger("benchcore").setLevel(style.level)
    if not style.debug:
        logging.getLogger("py.warnings").setLevel(logging.ERROR)


def logging_style() -> LogStyle:
    """The style configured last, for a child process to take over."""
    return _current


def name_run(run_id: str) -> None:
    """Say from here on which run the lines of this process, and of those that it starts, are of."""
    global _current  # noqa: PLW0603  (see `configure_logging`)
    _current = replace(_current, run_id=run_id)


def error_line(message: str, exit_status: int) -> str:
    """The last line of a command that failed, as a JSON object like those of its log."""
    told = {"time": _time(datetime.now(UTC)), "level": "error", "run_id": _current.run_id, "message": message}
    return orjson.dumps(told | {"exit_status": exit_status}).decode()


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever `sys.stderr` is at the time: a progress bar on the terminal puts itself in between."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


class _Formatter(logging.Formatter):
    """`benchcore: line`, with a level where it is not plain information.

    Messages quote what came from outside: it steers no terminal, and looks like no line of ours.
    """

    def __init__(self, debug: bool) -> None:
        super().__init__("%(message)s", datefmt="%H:%M:%S")
        self.debug = debug

    def format(self, record: logging.LogRecord) -> str:
        line = masked(visible(super().format(record))).replace("\n", "\n  ")
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        origin = f"{self.formatTime(record, self.datefmt)} {record.name}" if self.debug else "benchcore"
        return f"{origin}: {level}{line}"


class _JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, run_id, message, and the figures of a line of progress."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": _time(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "run_id": _current.run_id,
            "message": masked(record.getMessage()),
        }
        if record.exc_info:
            told["traceback"] = masked(self.formatException(record.exc_info))
        return orjson.dumps(told | getattr(record, "progress_fields", {}), default=str).decode()
