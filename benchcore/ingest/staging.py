"""What a run writes down between its steps, below the registry's root, gone when it ends."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from benchcore.ingest.columns import ddl
from benchcore.ingest.object_stores import spark_address
from benchcore.registry.root import Registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

_FOLDER = ("_staging", "ingest")


@dataclass(frozen=True)
class Staging:
    """One run's folder: a frame is computed once, written, and read as often as it is needed with flat memory."""

    spark: SparkSession
    folder: str

    def keep(self, name: str, frame: DataFrame, schema: pa.Schema) -> DataFrame:
        """Compute a frame now; what comes back only reads it."""
        location = f"{self.folder}/{name}"
        frame.write.mode("overwrite").parquet(location)
        return self.spark.read.schema(ddl(schema)).parquet(location)


@contextmanager
def engine_lock(registry: Registry) -> Iterator[list[int]]:
    """Wait until no JVM of an earlier run lives; yields the file descriptors that this run's JVM has to hold.

    A JVM notices only after a moment that its driver was killed, and could commit until then. It holds this lock for
    as long as it lives, so a new run, which has the registry's own lock already, starts after its end.
    """
    if not registry.is_local:  # a JVM ends long before the lease of its driver can be taken over
        yield []
        return
    import fcntl

    folder = Path(registry.sidecar(*_FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "_lock", os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("waiting for the Spark of an earlier run to end")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield [descriptor]
    finally:
        os.close(descriptor)


@contextmanager
def staging(spark: SparkSession, registry: Registry, run_id: str) -> Iterator[Staging]:
    """A folder for one run; what killed runs left is removed first. The caller holds the registry's lock."""
    clear(registry)
    try:
        yield Staging(spark, spark_address(registry.sidecar(*_FOLDER, run_id)))
    finally:
        clear(registry)


def clear(registry: Registry) -> None:
    """Remove what runs that were killed have left behind. The caller holds the registry's lock."""
    filesystem = registry.filesystem()
    folder = registry.sidecar(*_FOLDER)
    if filesystem.isdir(folder):
        for name in filesystem.ls(folder, detail=False):
            if not str(name).endswith("/_lock"):
                filesystem.rm(name, recursive=True)
