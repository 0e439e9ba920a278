"""What is said while Spark is at work."""

from __future__ import annotations

import logging
import re

import pytest

from benchcore.ingest.task_progress import told_tasks


def test_the_tasks_of_the_current_stage_are_told(spark, caplog: pytest.LogCaptureFixture):
    """Again and again while it runs; nothing any more when the block has ended."""
    with caplog.at_level(logging.INFO, "benchcore.ingest.task_progress"), told_tasks(spark, every_s=0.001):
        spark.range(0, 10**6, 1, 7).repartition(7).selectExpr("sum(hash(id))").collect()
    told = [record.getMessage() for record in caplog.records]
    caplog.clear()
    spark.range(10).count()

    assert told
    assert all(re.fullmatch(r"Spark: \d+ of \d+ tasks of the current stage are done", line) for line in told)
    assert not caplog.records
