"""Looking after Spark every few seconds while a block works with it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)


@contextmanager
def looking(look: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call something again and again in a thread of its own while the block runs, for as long as Spark's JVM answers.

    Args:
        look: asks Spark through py4j.
        every_s: seconds between two calls; the first comes after as many.
    """
    done = threading.Event()

    def run() -> None:
        from py4j.protocol import Py4JError

        try:
            while not done.wait(every_s):
                look()
        except (Py4JError, OSError):  # Spark's own process is gone, which the block learns by itself
            log.debug("Spark does not answer any more", exc_info=True)

    thread = threading.Thread(target=run, daemon=True, name="beside-spark")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
