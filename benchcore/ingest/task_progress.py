"""How far Spark is with its tasks, as log lines: a large corpus takes minutes in which nothing else is said."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from benchcore.ingest.beside_spark import looking

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
    with looking(partial(_tell, context.statusTracker()), every_s):
        yield


def _tell(tracker: Any) -> None:
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]  # one that has just ended is not
    if known:
        done, total = sum(stage.numCompletedTasks() for stage in known), sum(stage.numTasks() for stage in known)
        log.info("Spark: %d of %d tasks of the current stage are done", done, total)
