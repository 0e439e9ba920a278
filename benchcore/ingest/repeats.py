"""Documents that several logs of a harness hold: one log a model, and each of them has all documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchcore.config import LOG_FORMATS, Config, SourceSpec
from benchcore.ingest.columns import PROMPT, REPEAT
from benchcore.ingest.files import SourceFile
from benchcore.ingest.reading import read_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DOCUMENT = ("source", "benchmark", "_task", "_hash")


def read_without_repeats(
    spark: SparkSession, config: Config, specs: Sequence[SourceSpec], files: Sequence[SourceFile]
) -> DataFrame:
    """Read all files as `reading.read_files`; a document that two logs of a source hold is a prompt once.

    Its further rows are of kind `repeat`. Which row stays depends on the paths of the files alone.
    """
    logs = {spec.name for spec in specs if spec.format in LOG_FORMATS}
    logged = [file for file in files if file.source in logs]
    if not logged:
        return read_files(spark, config, specs, files)
    marked = _marked(read_files(spark, config, specs, logged))
    others = [file for file in files if file.source not in logs]
    return read_files(spark, config, specs, others).unionByName(marked) if others else marked


def _marked(read: DataFrame) -> DataFrame:
    """Turn the rows of documents that an earlier file shows into repeats."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    named = read
    for part in ("task", "hash", "id"):
        named = named.withColumn(f"_{part}", F.get_json_object("metadata", f"$.document.{part}"))
    # Two equal documents of one log are two, told apart by their ids; other logs may hold them under other ids.
    equals = Window.partitionBy(*_DOCUMENT, "path").orderBy("_id")
    files = Window.partitionBy(*_DOCUMENT, "_equal").orderBy("path")  # with `explode` a document has several rows
    numbered = named.withColumn("_equal", F.dense_rank().over(equals)).withColumn("_seen", F.dense_rank().over(files))
    repeated = (F.col("kind") == PROMPT) & (F.col("_seen") > 1)
    return numbered.withColumn("kind", F.when(repeated, REPEAT).otherwise(F.col("kind"))).select(*read.columns)
