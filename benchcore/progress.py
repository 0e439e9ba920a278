"""Progress of long work on stderr: a bar on a terminal, plain log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

_SECONDS_BETWEEN_LINES = 15.0


@contextmanager
def progress(description: str, total: int, unit: str = "items") -> Iterator[Callable[[int], None]]:
    """Show how far a piece of work is; yields a function that is told how much more is done.

    Args:
        description: what is being done, in a word or two.
        total: how much there is to do.
        unit: what is counted.
    """
    if not sys.stderr.isatty():
        yield _Lines(description, total, unit).advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def waiting(description: str) -> Iterator[None]:
    """Show that a piece of work goes on of which nobody knows how far it is: a running clock, or a line now and then.

    Args:
        description: what is being done, in a few words.
    """
    if sys.stderr.isatty():
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
    if not sys.stderr.isatty():
        yield _Count(description, unit).advance
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.completed:,.0f} " + unit))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as clock:
        task = clock.add_task(description, total=None)
        yield lambda done: clock.advance(task, done)


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
    """A log line every few seconds, with the rate and the time left."""

    def __init__(self, description: str, total: int, unit: str) -> None:
        self.description, self.total, self.unit = description, total, unit
        self.done = 0
        self.started = self.told = time.monotonic()

    def advance(self, done: int) -> None:
        self.done += done
        now = time.monotonic()
        if now - self.told < _SECONDS_BETWEEN_LINES:
            return
        self.told = now
        rate = self.done / (now - self.started)
        left = (self.total - self.done) / rate if rate else 0.0
        log.info(
            "%s: %d of %d %s, %.0f a second, %.0f s left",
            self.description, self.done, self.total, self.unit, rate, left,
        )  # fmt: skip
