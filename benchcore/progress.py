"""Progress of long work on stderr: a bar on a terminal, log lines elsewhere.

Each line carries its figures as fields (`progress_fields` of the record), which logs in JSON show: round, done, total,
unit, rate (a second), seconds_left and memory_bytes, that of this process and of all that it has started.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from benchcore.machine import in_words, memory_in_use

log = logging.getLogger(__name__)

LOG_VARIABLE = "BENCHCORE_LOG"  # `json`: a JSON object a line
_SECONDS_BETWEEN_LINES = 15.0
_SECONDS_BETWEEN_MEASUREMENTS = 2.0  # of memory, for a bar


def logs_are_json() -> bool:
    """Whether log lines are read by a machine; then there are no bars either."""
    return os.environ.get(LOG_VARIABLE) == "json"


def _on_terminal() -> bool:
    return sys.stderr.isatty() and not logs_are_json()


@contextmanager
def progress(
    description: str, total: int, unit: str = "items", work: Callable[[float], float] | None = None
) -> Iterator[Callable[[int], None]]:
    """Show how far a piece of work is; yields a function that is told how much more is done.

    Args:
        description: what is being done, in a word or two.
        total: how much there is to do.
        unit: what is counted.
        work: how much work so many are, where not each is as much as another; the time left goes by it.
    """
    clock = _Clock(total, work or float)
    if not _on_terminal():
        lines = _Lines(description, total, unit, clock)
        yield lines.advance
        lines.end()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    more = [TextColumn(f"{{task.fields[{field}]}}") for field in ("rate", "left", "memory")]
    with Progress(*columns, *more, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, rate="", left="", memory="")
        measured = 0.0

        def advance(done: int) -> None:
            nonlocal measured
            bar.advance(task, done)
            if time.monotonic() - measured >= _SECONDS_BETWEEN_MEASUREMENTS:
                measured = time.monotonic()
                speed, left, used = (
                    bar.tasks[0].speed,
                    clock.left(int(bar.tasks[0].completed), clock.gone()),
                    memory_in_use(),
                )
                rate = "" if speed is None else f"{_short(speed)}/s"
                shown = "" if left is None else str(timedelta(seconds=round(left)))
                bar.update(task, rate=rate, left=shown, memory="" if used is None else in_words(used))

        yield advance


@contextmanager
def waiting(description: str) -> Iterator[None]:
    """Show that a piece of work goes on of which nobody knows how far it is: a running clock, or a line now and then.

    Args:
        description: what is being done, in a few words.
    """
    if _on_terminal():
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as clock:
            clock.add_task(description, total=None)
            yield
        return
    started, ended = time.monotonic(), threading.Event()

    def tell() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LINES):
            log.info("%s: %.0f s so far", description, time.monotonic() - started)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


@contextmanager
def counting(description: str, unit: str = "items") -> Iterator[Callable[[int], None]]:
    """Show how much of a piece of work is done whose size nobody knows; yields a function that is told of more.

    Args:
        description: what is being done, in a few words.
        unit: what is counted.
    """
    if not _on_terminal():
        yield _Count(description, unit).advance
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.completed:,.0f} " + unit))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as clock:
        task = clock.add_task(description, total=None)
        yield lambda done: clock.advance(task, done)


class _Clock:
    """How long a piece of work has gone on, and will."""

    def __init__(self, total: int, work: Callable[[float], float]) -> None:
        self._total, self._work = total, work
        self.started = time.monotonic()

    def gone(self) -> float:
        """Seconds."""
        return time.monotonic() - self.started

    def left(self, done: int, gone: float) -> float | None:
        """Seconds, if the rest goes on as it went so far; None as long as nothing is done."""
        return gone * (self._work(self._total) / self._work(done) - 1) if done else None


class _Count:
    """A log line every few seconds, with the count so far."""

    def __init__(self, description: str, unit: str) -> None:
        self.description, self.unit = description, unit
        self.done = 0
        self.told = time.monotonic()

    def advance(self, done: int) -> None:
        self.done += done
        now = time.monotonic()
        if now - self.told >= _SECONDS_BETWEEN_LINES:
            self.told = now
            log.info("%s: %d %s so far", self.description, self.done, self.unit)


class _Lines:
    """A log line every few seconds, with the rate, the time left and memory; in JSON one at the end, too."""

    def __init__(self, description: str, total: int, unit: str, clock: _Clock) -> None:
        self.description, self.total, self.unit, self.clock = description, total, unit, clock
        self.done = 0
        self.told = clock.started

    def advance(self, done: int) -> None:
        self.done += done
        now = time.monotonic()
        if now - self.told >= _SECONDS_BETWEEN_LINES:
            self.told = now
            self._tell()

    def end(self) -> None:
        """Say how it ended, where a machine reads along."""
        if logs_are_json():
            self._tell()

    def _tell(self) -> None:
        gone = self.clock.gone()
        rate, left, used = self.done / gone if gone > 0 else 0.0, self.clock.left(self.done, gone), memory_in_use()
        fields = {
            "round": self.description, "done": self.done, "total": self.total, "unit": self.unit,
            "rate": rate, "seconds_left": left, "memory_bytes": used,
        }  # fmt: skip
        log.info(
            "%s: %d of %d %s, %s a second, %s left%s",
            self.description, self.done, self.total, self.unit, _short(rate),
            "?" if left is None else f"{left:.0f} s",
            "" if used is None else f", {in_words(used)} in all processes here",
            extra={"progress_fields": fields},
        )  # fmt: skip


def _short(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
