"""A watch over Spark's executors: a driver that has lost all of them waits for ever by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchcore.errors import BenchcoreError
from benchcore.ingest.beside_spark import looking

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    try:
        with looking(watch.look, min(_LONGEST_LOOK_S, patience_s / _LOOKS)):
            yield
    except BenchcoreError as error:
        if not watch.was_without:
            raise
        raise BenchcoreError(
            f"Spark has had no executor for {patience_s:g} s; nothing more was written",
            where=str(context.sc().master()),
            mend="Look after its master and workers and their room, or raise spark.room_timeout_s; then run it again.",
        ) from error


class _Watch:
    """Looks whether there are executors, and ends all jobs when there were none for too long."""

    def __init__(self, context: Any, patience_s: float) -> None:
        self._context, self._patience_s = context, patience_s
        self._last = time.monotonic()
        self.was_without = False

    def look(self) -> None:
        if self._context.getExecutorMemoryStatus().size() > 1:  # one is the driver
            self._last = time.monotonic()
        elif time.monotonic() - self._last >= self._patience_s:
            self.was_without = True
            self._context.cancelAllJobs()  # again with the next look: another one may just have begun
