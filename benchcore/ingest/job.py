"""Ingestion: the files of all sources become the tables `prompts`, `quarantine` and `sources`."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from benchcore.config import Config, SourceSpec
from benchcore.errors import BenchcoreError
from benchcore.ingest.accounts import accounts_of, count_files, raise_unread, totals_of, warnings_of
from benchcore.ingest.changes import Changes, find_changes, sources_rows
from benchcore.ingest.columns import IDENTIFIED, MARKS, READ, beside
from benchcore.ingest.commits import commit, stored
from benchcore.ingest.differences import (
    ADDED,
    EDITED,
    MARKED,
    RETIRED,
    UPDATED,
    owned,
    prompt_changes,
    quarantine_changes,
)
from benchcore.ingest.duplicates import shown_hash, with_duplicates
from benchcore.ingest.executors import required_executors
from benchcore.ingest.files import find_files
from benchcore.ingest.identities import identify, raise_collisions
from benchcore.ingest.repeats import read_without_repeats
from benchcore.ingest.session import session
from benchcore.ingest.staging import Staging, clear, engine_lock, staging
from benchcore.ingest.task_progress import told_tasks
from benchcore.registry import tables
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IngestOutcome:
    """What one run of ingestion did.

    Attributes:
        changed: whether any table got a new version.
        counts: rows_read, rows_kept, rows_duplicate, rows_quarantined and files of all sources of the configuration;
            files_read and prompts_added, prompts_edited, prompts_updated, prompts_retired of this run.
        warnings: one line for each source that has quarantined rows, and one for undeclared sources.
    """

    changed: bool
    counts: dict[str, int]
    warnings: tuple[str, ...] = field(default=())


def ingest(config: Config, specs: list[SourceSpec], registry: Registry, run_id: str) -> IngestOutcome:
    """Bring the tables up to date with the files of the sources; what did not change is not read, let alone written.

    The caller holds the registry's lock. Run again after a failure or a kill, it ends as if it had run once.

    Args:
        config: where the data lies, limits, Spark.
        specs: the sources.
        registry: whose tables are written.
        run_id: noted with each row that changes.

    Raises:
        UsageError: a source is wrong; nothing was started.
        BenchcoreError: a file cannot be read, a source gives no prompt, ids collide, or Spark fails; the tables are as
            they were.
    """
    files = find_files(config, specs)
    clear(registry)
    # Without the prompts, what `sources` says of them is void: all is read again.
    read_before = tables.current_version(registry, "prompts") is not None
    sources = tables.read(registry, "sources") if read_before else SCHEMAS["sources"].empty_table()
    changes = find_changes(files, [spec.name for spec in specs], sources)
    written: dict[str, int] = {}
    if changes.benchmarks:
        registry.require_writable()
        log.info(
            "reading %d files (%.1f MB) of %d benchmarks",
            len(changes.files), sum(file.bytes for file in changes.files) / 1e6, len(changes.benchmarks),
        )  # fmt: skip
        with (
            engine_lock(registry) as descriptors,
            session(config.spark, descriptors, registry.root) as spark,
            required_executors(spark, config.spark.room_timeout_s),
            told_tasks(spark),
        ):
            written = _Run(spark, config, specs, registry, run_id, changes).run()
    names = [spec.name for spec in specs]
    return IngestOutcome(
        changed=any(written.values()),
        counts=totals_of(registry, names) | _of_this_run(written, changes),
        warnings=warnings_of(registry, names),
    )


@dataclass(frozen=True)
class _Run:
    """One run that has something to read."""

    spark: SparkSession
    config: Config
    specs: Sequence[SourceSpec]
    registry: Registry
    run_id: str
    changes: Changes

    def run(self) -> dict[str, int]:
        """Read, check, and commit prompts, quarantine and sources in this order; returns what was written.

        `sources` comes last: it says that the rest is done.
        """
        with _one_line_errors(), staging(self.spark, self.registry, self.run_id) as stage:
            found = read_without_repeats(self.spark, self.config, self.specs, self.changes.files)
            read = stage.keep("read", found, READ)
            counts = count_files(read)
            raise_unread(counts)
            self._raise_collisions(read)
            fresh = stage.keep("identified", identify(read), IDENTIFIED)
            marks = stage.keep("marks", with_duplicates(self._current(fresh)), MARKS)
            rows = sources_rows(self.changes, accounts_of(counts, marks), self.run_id)
            written = self._commit_prompts(stage, fresh, marks)
            if any(count.quarantined for count in counts.values()) or self._has_quarantined():
                written |= self._commit_quarantine(stage, read)
        tables.upsert(self.registry, "sources", rows)
        return written | {"sources": rows.num_rows}

    def _raise_collisions(self, read: DataFrame) -> None:
        by_name = {spec.name: spec for spec in self.specs}
        if any(by_name[file.source].map.id is not None for file in self.changes.files):
            by_path = {(file.source, file.path): file for file in self.changes.files}
            raise_collisions(read, by_name, by_path, self.config.ingest.max_document_bytes)

    def _current(self, fresh: DataFrame) -> DataFrame:
        """What duplicates are looked for among: all prompts, as they will be, that are not retired."""
        from pyspark.sql import functions as F

        columns = ("prompt_id", "benchmark", "content_hash")
        others = stored(self.spark, self.registry, "prompts").where(~owned(self.changes)).where("retired_at is null")
        unread = [F.lit(None).cast("string").alias(name) for name in ("source", "path")]
        shown = shown_hash().alias("shown")
        return fresh.select(*columns, shown, "source", "path").unionByName(others.select(*columns, shown, *unread))

    def _has_quarantined(self) -> bool:
        changed = pc.field("benchmark").isin(sorted(self.changes.benchmarks))
        return bool(tables.read(self.registry, "quarantine", columns=["source"], where=changed).num_rows)

    def _commit_prompts(self, stage: Staging, fresh: DataFrame, marks: DataFrame) -> dict[str, int]:
        old = stored(self.spark, self.registry, "prompts")
        rows = prompt_changes(fresh, old, marks, self.changes, run_id=self.run_id, now=datetime.now(UTC))
        return self._commit(stage, "prompts", rows)

    def _commit_quarantine(self, stage: Staging, read: DataFrame) -> dict[str, int]:
        old = stored(self.spark, self.registry, "quarantine")
        return self._commit(stage, "quarantine", quarantine_changes(read, old, self.changes, self.run_id))

    def _commit(self, stage: Staging, name: str, rows: DataFrame) -> dict[str, int]:
        kept = stage.keep(f"{name}-changes", rows, beside("change", SCHEMAS[name]))
        kinds = {f"{name}_{row.change}": row["count"] for row in kept.groupBy("change").count().collect()}
        if kinds:
            commit(self.spark, self.registry, name, kept)
        return kinds


def _of_this_run(written: dict[str, int], changes: Changes) -> dict[str, int]:
    kinds = (ADDED, EDITED, UPDATED, MARKED, RETIRED)
    prompts = {f"prompts_{kind}": written.get(f"prompts_{kind}", 0) for kind in kinds}
    return prompts | {"files_read": len(changes.files)}


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Tell a failure of Spark in one line; the log, at its finest, has all of it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        log.debug("Spark failed", exc_info=True)
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise BenchcoreError(
            f"Spark failed: {_telling(lines)}",
            mend="Run the command again: it goes on where it stopped; --debug shows all that Spark said.",
        ) from error


def _telling(lines: list[str]) -> str:
    """The line of a failure that says most: the Python error of a worker, else the innermost cause, else the first."""
    errors = [line for line in lines if re.match(r"^[A-Za-z_.]*(Error|Exception|Killed)\b", line)]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return [*errors[-1:], *causes[-1:], *lines, "no message"][0][:500]
