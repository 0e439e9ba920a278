"""What a run changes in the tables: only rows that differ from what is stored."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from benchcore.ingest.changes import Changes
from benchcore.ingest.columns import CONTENT, QUARANTINE
from benchcore.registry.schemas import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ADDED, EDITED, UPDATED, RETIRED, MARKED = "added", "edited", "updated", "retired", "marked"
PUT, DROPPED = "put", "dropped"


def owned(changes: Changes) -> Column:
    """The stored rows that this run may replace: of changed benchmarks that the configuration, or its sources, hold."""
    from pyspark.sql import functions as F

    mine = F.col("benchmark").isin(sorted(changes.declared)) | F.col("source").isin(sorted(changes.sources))
    return F.col("benchmark").isin(sorted(changes.benchmarks)) & mine


def prompt_changes(
    fresh: DataFrame, stored: DataFrame, marks: DataFrame, changes: Changes, *, run_id: str, now: datetime
) -> DataFrame:
    """Rows of `prompts` to be written, with the column `change` beside them.

    Args:
        fresh: the prompts that were read (`columns.IDENTIFIED`).
        stored: the table.
        marks: prompt_id and duplicate_of of every prompt that will not be retired.
        changes: what was read.
        run_id: of this run.
        now: when rows that are gone are said to have retired.
    """
    from pyspark.sql import functions as F

    columns = SCHEMAS["prompts"].names
    read = fresh.join(marks.select("prompt_id", "duplicate_of"), "prompt_id")
    mine = stored.where(owned(changes))
    old = mine.select(*(F.col(name).alias(f"_{name}") for name in columns))
    both = read.join(old, F.col("prompt_id") == F.col("_prompt_id"), "left")
    new, edited = F.col("_prompt_id").isNull(), F.col("content_hash") != F.col("_content_hash")
    differs = F.col("_retired_at").isNotNull()
    for name in (*CONTENT, "duplicate_of"):
        differs = differs | ~F.col(name).eqNullSafe(F.col(f"_{name}"))
    written = both.where(new | differs).select(
        F.when(new, ADDED).when(edited, EDITED).otherwise(UPDATED).alias("change"),
        "prompt_id",
        *CONTENT,
        F.when(new, 1)
        .when(edited, F.col("_revision") + 1)
        .otherwise(F.col("_revision"))
        .cast("bigint")
        .alias("revision"),
        "duplicate_of",
        F.when(new, F.lit(run_id)).otherwise(F.col("_first_run")).alias("first_run"),
        F.lit(None).cast("timestamp").alias("retired_at"),
    )
    gone = mine.where("retired_at is null").join(fresh.select("prompt_id"), "prompt_id", "left_anti")
    retired = gone.withColumn("retired_at", F.lit(now)).withColumn("change", F.lit(RETIRED))
    others = stored.where(~owned(changes) & F.col("retired_at").isNull())
    marked = others.join(marks.select("prompt_id", F.col("duplicate_of").alias("_duplicate_of")), "prompt_id")
    marked = marked.where(~F.col("duplicate_of").eqNullSafe(F.col("_duplicate_of")))
    marked = marked.withColumn("duplicate_of", F.col("_duplicate_of")).withColumn("change", F.lit(MARKED))
    order = ["change", *columns]
    return written.select(order).unionByName(retired.select(order)).unionByName(marked.select(order))


def quarantine_changes(read: DataFrame, stored: DataFrame, changes: Changes, run_id: str) -> DataFrame:
    """Rows of `quarantine` to be put or dropped, with the column `change` beside them."""
    from pyspark.sql import functions as F

    columns = SCHEMAS["quarantine"].names
    key, said = ("source", "path", "source_row"), ("benchmark", "reason", "raw")
    fresh = read.where(read.kind == QUARANTINE).select(*key, *said)
    mine = stored.where(owned(changes))
    same = [F.col(f"new.{name}").eqNullSafe(F.col(f"old.{name}")) for name in (*key, *said)]
    matching = same[0]
    for condition in same[1:]:
        matching = matching & condition
    put = fresh.alias("new").join(mine.alias("old"), matching, "left_anti").withColumn("run_id", F.lit(run_id))
    dropped = mine.join(fresh.select(*key), list(key), "left_anti")
    order = ["change", *columns]
    put, dropped = put.withColumn("change", F.lit(PUT)), dropped.withColumn("change", F.lit(DROPPED))
    return put.select(order).unionByName(dropped.select(order))
