"""The steps in order (ingest, embed, select, report): what each needs, what it skips, and the record of the run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchcore.config import Config, SourceSpec
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.isolation import run_isolated
from benchcore.pipeline.logs import name_run
from benchcore.pipeline.metrics import measured
from benchcore.pipeline.preflight import DISK_FLOOR, require_disk, require_memory_for
from benchcore.registry.identity import digest
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from benchcore.registry.runs import Outcome, new_run_id, record_run, require_run_name
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin

if TYPE_CHECKING:
    from benchcore.distributed.pool import Pool
    from benchcore.report.ground import Ground

log = logging.getLogger(__name__)

STEPS = ("ingest", "embed", "select", "report")
_WRITING = {"ingest", "embed", "select"}


@dataclass(frozen=True)
class StepOutcome:
    """What one step did.

    Attributes:
        step: its name.
        changed: False when all was there already.
        seconds: wall-clock time.
        counts: counter -> number.
        warnings: one line each.
    """

    step: str
    changed: bool
    seconds: float
    counts: dict[str, int]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunOutcome:
    """What a command did.

    Attributes:
        run_id: its name in the tables; recorded in `runs` only if something changed.
        changed: whether any table got a new version.
        steps: in the order they ran.
        coreset_id: the coreset that the configuration asks for, where the command got as far as that.
        report: its page.
    """

    run_id: str
    changed: bool
    steps: tuple[StepOutcome, ...]
    coreset_id: str | None = None
    report: Path | None = None


@dataclass
class Job:
    """One run under way: what the steps share, and what is known so far."""

    config: Config
    specs: Sequence[SourceSpec]
    registry: Registry
    run_id: str
    isolate: bool = True
    coreset_id: str | None = None
    report: Path | None = None
    pool: tuple[Pool, dict[str, int]] | None = None
    done: list[StepOutcome] = field(default_factory=list)


def run(
    config: Config,
    specs: Sequence[SourceSpec] = (),
    steps: Sequence[str] = STEPS,
    *,
    command: str = "run",
    run_name: str | None = None,
    isolate: bool = True,
) -> RunOutcome:
    """Run steps, each of which skips what is already there, under the registry's lock.

    A run that changed a table leaves one row in `runs`; one that failed after it had written something leaves a row
    with the outcome `failed`, so that the run ids in other tables can be traced. A killed run leaves none.

    Args:
        config: validated.
        specs: the sources, for the step `ingest`.
        steps: some of `STEPS`, in this order.
        command: as the lock and `runs` shall name it.
        run_name: what a scheduler calls this run: the end of its id; default: random digits.
        isolate: run ingestion in a process of its own; False in a process that spark-submit started for it, in which
            no other step may follow.

    Raises:
        UsageError: the name cannot be part of an id.
        BenchcoreError: a step failed, or the machine cannot run it.
    """
    if run_name is not None:
        require_run_name(run_name)
    job = Job(config, specs, Registry.at(config.registry.root), new_run_id(name=run_name), isolate)
    name_run(job.run_id)
    with measured(job, steps):
        return _run(job, steps, command)


def _run(job: Job, steps: Sequence[str], command: str) -> RunOutcome:
    job.registry.require_writable()
    if set(steps) & _WRITING:
        require_disk(job.registry, DISK_FLOOR)
    with writer_lock(job.registry, command, job.config.registry.lock_timeout_s) as held:
        job.registry = held
        require_memory_for(job.config, steps)  # not before: who waits would count the memory of the one waited for
        with _recorded(job, command) as changed:
            for step in steps:
                job.done.append(_timed(step, job))
        return RunOutcome(job.run_id, changed(), tuple(job.done), job.coreset_id, job.report)


@contextmanager
def _recorded(job: Job, command: str) -> Iterator[Callable[[], bool]]:
    """Write the row of `runs` at the end of the block, if any table got a new version inside it."""
    started, before = datetime.now(UTC), _versions(job.registry)

    def changed() -> bool:
        return _versions(job.registry) != before

    def record(outcome: Outcome) -> None:
        if changed():
            record_run(
                job.registry,
                job.run_id,
                command=command,
                configuration_hash=configuration_hash(job.config, job.specs),
                started=started,
                outcome=outcome,
                counts={step.step: step.counts for step in job.done},
            )

    try:
        yield changed
    except Exception:
        record("failed")
        raise
    record("done")


def configuration_hash(config: Config, specs: Sequence[SourceSpec]) -> str:
    """Hash everything that was configured, paths and memory sizes included: for tracing a run, not for identity."""
    return digest("configuration", config.model_dump(mode="json"), [spec.model_dump(mode="json") for spec in specs])


def _versions(registry: Registry) -> Mapping[str, int]:
    return pin(registry, [name for name in SCHEMAS if name != "runs"])


def _timed(step: str, job: Job) -> StepOutcome:
    started = time.monotonic()
    log.debug("step %s starts", step)
    changed, counts, warnings = _STEP_FUNCTIONS[step](job)
    seconds = time.monotonic() - started
    for warning in warnings:
        log.warning("%s", warning)
    log.info("%s: %s (%.1f s)", step, "done" if changed else "nothing to do", seconds)
    return StepOutcome(step, changed, seconds, counts, warnings)


_Done = tuple[bool, dict[str, int], tuple[str, ...]]


def _ingest(job: Job) -> _Done:
    if not job.specs:
        raise UsageError("no source is declared", where="sources.include", mend="Name at least one source file.")
    from benchcore.ingest.job import ingest

    arguments = (job.config, list(job.specs), job.registry, job.run_id)
    outcome = run_isolated(ingest, *arguments) if job.isolate else ingest(*arguments)
    return outcome.changed, dict(outcome.counts), tuple(outcome.warnings)


def _embed(job: Job) -> _Done:
    from benchcore.embedding.job import embed

    outcome = embed(job.config, job.registry, job.run_id)
    counts = {name: int(getattr(outcome, name)) for name in ("texts", "encoded", "cached", "truncated", "features")}
    return outcome.changed, counts, tuple(outcome.warnings)


def _select(job: Job) -> _Done:
    from benchcore.distributed.job import select

    pool, pinned = _pool(job)
    outcome = select(job.config, job.registry, pool, job.run_id, pinned)
    job.coreset_id = outcome.coreset_id
    counts = {"prompts": int(pool.copies.sum()), "distinct": pool.n, "picks": outcome.picks}
    return outcome.changed, counts, tuple(outcome.warnings)


def _report(job: Job) -> _Done:
    from benchcore.report.page import write

    if job.coreset_id is None:
        job.coreset_id = _existing_coreset(job)
    job.report = report_path(job.config, job.registry, job.coreset_id)
    return write(job.registry, job.coreset_id, job.report, _ground(job, job.coreset_id)), {}, ()


def _ground(job: Job, coreset_id: str) -> Ground:
    """The prompts that a coreset was selected from, at the versions that it was selected at."""
    from benchcore.pipeline.selectable import selectable
    from benchcore.registry.manifests import find_manifest
    from benchcore.report.ground import Ground

    pool, pinned = _pool(job)
    manifest = find_manifest(job.registry, coreset_id)
    if manifest is not None and manifest.table_versions != pinned:
        pool = selectable(job.config, job.registry, manifest.table_versions)
    return Ground(pool.prompt_id, pool.text_hash, pool.benchmark, pool.copies, pool.encoder)


def _pool(job: Job) -> tuple[Pool, dict[str, int]]:
    """The pool at the newest versions; built once for all steps that need the same."""
    from benchcore.pipeline.selectable import selectable

    pinned = pin(job.registry, ("prompts", "sources", "embeddings"))
    if job.pool is None or job.pool[1] != pinned:
        job.pool = selectable(job.config, job.registry, pinned), pinned
    return job.pool


def _existing_coreset(job: Job) -> str:
    """The coreset of the configuration and of the tables as they are now.

    Raises:
        BenchcoreError: it was not selected yet.
    """
    from benchcore.distributed.job import coreset_id_of
    from benchcore.registry.manifests import find_manifest

    coreset_id = coreset_id_of(job.config, _pool(job)[0])
    if find_manifest(job.registry, coreset_id) is None:
        raise BenchcoreError(
            "the coreset of this configuration was not selected yet, or the tables have changed since",
            where=job.registry.root,
            mend=f"Run `benchcore select CONF -k {job.config.select.k}` first.",
        )
    return coreset_id


def report_path(config: Config, registry: Registry, coreset_id: str) -> Path:
    """Where the page of a coreset goes: as configured, else `reports/` below the root (here, for an object store)."""
    if config.report.path is not None:
        return Path(config.report.path)
    folder = Path(registry.root) if registry.is_local else Path.cwd()
    return folder / "reports" / f"{coreset_id}.html"


_STEP_FUNCTIONS: dict[str, Callable[[Job], _Done]] = {
    "ingest": _ingest,
    "embed": _embed,
    "select": _select,
    "report": _report,
}
