"""A watch over Spark's executors: a driver that has lost all of them waits for ever by itself."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchcore.errors import BenchcoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_LOOKS = 10  # in the time that is waited
_LONGEST_LOOK_S = 5.0


@contextmanager
def required_executors(spark: SparkSession, patience_s: float) -> Iterator[None]:
    """End Spark's jobs, and with them the block, when there has been no executor for too long.

    Nothing to watch in a session whose executor is the driver itself, or that is somebody else's (Spark Connect).

    Args:
        spark: the session that the block works with.
        patience_s: how long to wait for executors, at the start or after the loss of all.

    Raises:
        BenchcoreError: there were none for so long.
    """
    context = getattr(spark, "_jsc", None)
    if context is None or str(context.sc().master()).startswith("local["):
        yield
        return
    watch = _Watch(context.sc(), patience_s)
    watch.start()
    try:
        yield
    except BenchcoreError as error:
        if not watch.was_without:
            raise
        raise BenchcoreError(
            f"Spark has had no executor for {patience_s:g} s; nothing more was written",
            where=str(context.sc().master()),
            mend="Look after its master and workers and their room, or raise spark.room_timeout_s; then run it again.",
        ) from error
    finally:
        watch.stop()


class _Watch(threading.Thread):
    """Looks whether there are executors, and ends all jobs when there were none for too long."""

    def __init__(self, context: Any, patience_s: float) -> None:
        super().__init__(daemon=True, name="executors")
        self._context, self._patience_s = context, patience_s
        self._done = threading.Event()
        self.was_without = False

    def run(self) -> None:
        from py4j.protocol import Py4JError

        try:
            self._look()
        except (Py4JError, OSError):  # Spark's own process is gone, which the block learns by itself
            log.debug("executors cannot be counted any more", exc_info=True)

    def _look(self) -> None:
        last = time.monotonic()
        while not self._done.wait(min(_LONGEST_LOOK_S, self._patience_s / _LOOKS)):
            if self._context.getExecutorMemoryStatus().size() > 1:  # one is the driver
                last = time.monotonic()
            elif time.monotonic() - last >= self._patience_s:
                self.was_without = True
                self._context.cancelAllJobs()  # again with the next look: another one may just have begun

    def stop(self) -> None:
        """End the watch."""
        self._done.set()
        self.join()
