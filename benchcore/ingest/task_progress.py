"""How far Spark is with its tasks, as log lines: a large corpus takes minutes in which nothing else is said."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def told_tasks(spark: SparkSession, every_s: float = _SECONDS_BETWEEN_LINES) -> Iterator[None]:
    """Tell while the block runs how many tasks of Spark's current stages are done; of Spark Connect nothing is known.

    Args:
        spark: the session that the block works with.
        every_s: seconds between two lines.
    """
    context = getattr(spark, "_jsc", None)
    if context is None:
        yield
        return
    teller = _Teller(context.statusTracker(), every_s)
    teller.start()
    try:
        yield
    finally:
        teller.done.set()
        teller.join()


class _Teller(threading.Thread):
    def __init__(self, tracker: Any, every_s: float) -> None:
        super().__init__(daemon=True, name="task-progress")
        self._tracker, self._every_s = tracker, every_s
        self.done = threading.Event()

    def run(self) -> None:
        from py4j.protocol import Py4JError

        try:
            while not self.done.wait(self._every_s):
                self._tell()
        except (Py4JError, OSError):  # Spark's own process is gone, which the block learns by itself
            log.debug("tasks cannot be counted any more", exc_info=True)

    def _tell(self) -> None:
        stages = [self._tracker.getStageInfo(number) for number in self._tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]  # one that has just ended is not
        if known:
            done, total = (sum(getattr(stage, name)() for stage in known) for name in ("numCompletedTasks", "numTasks"))
            log.info("Spark: %d of %d tasks of the current stage are done", done, total)
