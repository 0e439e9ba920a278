"""Reading and mapping on Spark's workers: parts of files in, canonical rows with their accounts out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from benchcore.config import Config, SourceSpec
from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.canonical import Rejection
from benchcore.ingest.columns import ERROR, PROMPT, QUARANTINE, READ, TALLY, ddl
from benchcore.ingest.files import SourceFile
from benchcore.ingest.mapping import Mapping, compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import Row, rows_of
from benchcore.registry.identity import digest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BATCH_ROWS = 1000
_BATCH_CHARACTERS = 8 * 1024**2  # a batch of long prompts ends here
_TASK_BYTES = 8 * 1024**2
_TASKS_PER_CORE = 4

Unit = tuple[str, str, ReadUnit]  # source, benchmark, what to read


def read_files(
    spark: SparkSession, config: Config, specs: Sequence[SourceSpec], files: Sequence[SourceFile]
) -> DataFrame:
    """Read the files on the workers; columns as `columns.READ`, one row a prompt or quarantined record.

    Beside them each unit gives one row of kind `tally` with the number of rows it read, or one of kind `error`.
    """
    used = {file.source for file in files}
    by_name = {spec.name: spec for spec in specs if spec.name in used}
    cores = int(spark.conf.get("spark.sql.shuffle.partitions", "2") or 2)
    tasks = _balanced(_units(config, by_name, files), cores)
    read = _reader(tasks, by_name, config.ingest.max_characters)
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, ddl(READ))


def unpack_error(what: str, rest: str) -> BenchcoreError:
    """The error that a worker met, as it was there."""
    told = orjson.loads(rest)
    kind = UsageError if told["usage"] else BenchcoreError
    return kind(what, where=told["where"], mend=told["mend"])


def _units(config: Config, specs: dict[str, SourceSpec], files: Sequence[SourceFile]) -> list[tuple[int, Unit]]:
    units = []
    for file in files:
        whole = ReadUnit.of(specs[file.source], file.uri, file.path, config.ingest.max_document_bytes)
        for start, length, first_row in file.splits:
            unit = replace(whole, start=start, length=length, first_row=first_row)
            units.append((length if length is not None else file.bytes, (file.source, file.benchmark, unit)))
    return units


def _balanced(units: list[tuple[int, Unit]], cores: int) -> list[list[Unit]]:
    """Pack the units into tasks of nearly the same size, the largest first into the emptiest."""
    total = sum(size for size, _ in units)
    count = max(1, min(len(units), max(_TASKS_PER_CORE * cores, total // _TASK_BYTES)))
    filled = [(0, number) for number in range(count)]
    tasks: list[list[Unit]] = [[] for _ in range(count)]
    for size, unit in sorted(units, key=lambda sized: (-sized[0], sized[1][0], sized[1][2].path, sized[1][2].start)):
        load, number = heapq.heappop(filled)
        tasks[number].append(unit)
        heapq.heappush(filled, (load + size, number))
    return tasks


def _reader(
    tasks: list[list[Unit]], specs: dict[str, SourceSpec], max_characters: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        mapping = cache(lambda source: compile_mapping(specs[source], max_characters))
        return _batches(row for number in numbers for unit in tasks[number] for row in _read_unit(unit, mapping))

    return read


def _read_unit(unit: Unit, mapping: Callable[[str], Mapping]) -> Iterator[dict[str, Any]]:
    source, benchmark, part = unit
    place = {"source": source, "path": part.path, "benchmark": benchmark}
    read = 0
    try:
        for row in rows_of(part, mapping(source)):
            read += 1
            yield _described(row) | place
    except BenchcoreError as error:
        yield place | _unread(part, error)
    except (RecursionError, MemoryError) as error:  # of what one record holds, which no reader foresaw
        what = f"cannot be read after {read:,} rows: {str(error) or 'it needs more memory than there is'}"
        yield place | _unread(part, BenchcoreError(what, part.path, "Name the file in the source's 'exclude'."))
    yield place | {"kind": TALLY, "rows_read": read}


def _unread(part: ReadUnit, error: BenchcoreError) -> dict[str, Any]:
    told = {"where": error.where, "mend": error.mend, "usage": isinstance(error, UsageError)}
    return {"kind": ERROR, "source_row": part.first_row, "reason": error.what, "raw": orjson.dumps(told).decode()}


def _described(row: Row) -> dict[str, Any]:
    if isinstance(row.outcome, Rejection):
        return {"kind": QUARANTINE, "source_row": row.source_row, "reason": row.outcome.reason, "raw": row.outcome.raw}
    said = vars(row.outcome)
    return {
        "kind": PROMPT,
        "source_row": row.source_row,
        **said,
        "record_id": said["identity"],
        "row_hash": digest("row", said),
    }


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    held: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        held.append(row)
        characters += len(row.get("prompt") or "") + len(row.get("raw") or "")
        if len(held) == _BATCH_ROWS or characters > _BATCH_CHARACTERS:
            yield pa.RecordBatch.from_pylist(held, schema=READ)
            held, characters = [], 0
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=READ)
