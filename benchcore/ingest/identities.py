"""Ids of prompts: the declared id or the content, and a number among equals that no file order can change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from benchcore.config import SourceSpec
from benchcore.errors import BenchcoreError
from benchcore.ingest.columns import CONTENT, IDENTIFIED, PROMPT, ddl
from benchcore.ingest.files import SourceFile
from benchcore.ingest.separation import separating_fields
from benchcore.registry.identity import prompt_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SAMPLED_ROWS = 200


def identify(read: DataFrame) -> DataFrame:
    """Give every prompt its id; columns as `columns.IDENTIFIED`.

    Rows of a benchmark with one identity are numbered in the order of what they say, so the same files read twice, in
    another order or from another folder give the same ids.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    prompts = read.where(read.kind == PROMPT)
    identity = F.coalesce(F.concat(F.lit("id:"), "identity"), F.concat(F.lit("content:"), "content_hash"))
    equals = Window.partitionBy("benchmark", "_identity").orderBy("row_hash", "source", "path", "source_row")
    numbered = prompts.withColumn("_identity", identity).withColumn("_occurrence", F.row_number().over(equals) - 1)
    return numbered.select(*CONTENT, "_identity", "_occurrence").mapInArrow(_named, ddl(IDENTIFIED))


def _named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        parts = (batch.column(name).to_pylist() for name in ("benchmark", "_identity", "_occurrence"))
        ids = [prompt_id(*part) for part in zip(*parts, strict=True)]
        columns = [pa.array(ids, pa.string()), *(batch.column(name) for name in CONTENT)]
        yield pa.RecordBatch.from_arrays(columns, schema=IDENTIFIED)


def raise_collisions(
    read: DataFrame, specs: Mapping[str, SourceSpec], files: Mapping[tuple[str, str], SourceFile], limit: int
) -> None:
    """Refuse a declared id that stands for different contents, and name the fields that would tell them apart.

    Args:
        read: as `reading.read_files` gives it.
        specs: the sources by name.
        files: the files read, by (source, path).
        limit: largest file that is parsed whole (`ingest.max_document_bytes`).

    Raises:
        BenchcoreError: ids collide; names one source, and the number of its ids that do.
    """
    from pyspark.sql import functions as F

    declared = read.where((read.kind == PROMPT) & read.identity.isNotNull())
    groups = declared.groupBy("benchmark", "identity").agg(
        F.min("content_hash").alias("least"),
        F.max("content_hash").alias("most"),
        F.count(F.lit(1)).alias("rows"),
        F.min("source").alias("source"),
    )
    colliding = groups.where("least <> most")
    worst = colliding.groupBy("source").agg(
        F.count(F.lit(1)).alias("ids"),
        F.sum("rows").alias("rows"),
        F.min(F.struct("benchmark", "identity")).alias("first"),
    )
    found = worst.orderBy("source").limit(1).collect()
    if not found:
        return
    source, ids, rows, first = found[0].source, found[0].ids, found[0].rows, found[0].first
    keys = colliding.where(F.col("source") == source).orderBy("benchmark", "identity").limit(_SAMPLED_ROWS // 2)
    sample = (
        declared.join(F.broadcast(keys.select("benchmark", "identity")), ["benchmark", "identity"])
        .select("source", "path", "source_row", "identity", "content_hash", "language", "task", "split")
        .orderBy("identity", "source", "path", "source_row")
        .limit(_SAMPLED_ROWS)
        .collect()
    )
    fields = separating_fields([row.asDict() for row in sample], specs, files, limit)
    template = specs[source].map.id or ""
    raise BenchcoreError(
        f"the id template '{template}' gives {ids:,} ids to {rows:,} rows that differ, e.g. '{first.identity}'",
        where=f"source '{source}'",
        mend=_mend(template, fields),
    )


def _mend(template: str, fields: list[str]) -> str:
    if not fields:
        return "No field of the records tells them apart: leave 'id' out, and ids come from the content."
    longer = "/".join(f"{{{{ {field} }}}}" for field in fields)
    return f'Told apart by {" and ".join(fields)}: write id: "{longer}/{template}".'
