"""Writing rows into Delta tables: one transaction a table, and none where nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchcore.ingest.columns import ddl
from benchcore.ingest.differences import DROPPED
from benchcore.ingest.object_stores import spark_address
from benchcore.registry.lease import require
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, PROPERTIES, SCHEMAS
from benchcore.registry.tables import current_version

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def stored(spark: SparkSession, registry: Registry, name: str) -> DataFrame:
    """A table as it is; an absent one is empty."""
    if current_version(registry, name) is None:
        return spark.createDataFrame([], ddl(SCHEMAS[name]))
    return spark.read.format("delta").load(spark_address(registry.uri(name))).select(SCHEMAS[name].names)


def commit(spark: SparkSession, registry: Registry, name: str, rows: DataFrame) -> None:
    """Bring rows into a table by its key: update those that are there, add the others, drop those marked as dropped.

    The caller holds the registry's lock and has made sure that there are rows, each key once, all different from what
    is stored.

    Args:
        rows: the table's columns and `change`.
    """
    address = spark_address(registry.uri(name))
    exists = current_version(registry, name) is not None
    require(registry)
    if not exists:
        writer = rows.select(SCHEMAS[name].names).write.format("delta").mode("error")
        writer.options(**PROPERTIES).save(address)
        return
    from delta.tables import DeltaTable

    condition = " and ".join(f"old.{key} = new.{key}" for key in KEYS[name])
    values: dict[str, str | Column] = {column: f"new.{column}" for column in SCHEMAS[name].names}
    merge = DeltaTable.forPath(spark, address).alias("old").merge(rows.alias("new"), condition)
    merge = merge.whenMatchedDelete(f"new.change = '{DROPPED}'").whenMatchedUpdate(set=values)
    merge.whenNotMatchedInsert(f"new.change <> '{DROPPED}'", values=values).execute()
