"""A harness's logs into `bindings` and `scores`; nothing is dropped silently, and the same log twice adds nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchcore.errors import UsageError
from benchcore.harness.binding import (
    Binder,
    Prompts,
    load_prompts,
    parse_benchmarks,
    store_bindings,
    stored_bindings,
)
from benchcore.harness.entry import Harness
from benchcore.harness.log_reading import Advance, ImportOptions, Reading
from benchcore.harness.logs import require_readable
from benchcore.harness.notes import Notes
from benchcore.harness.scores import EVERY_METRIC
from benchcore.harness.storing import differences_of, differing_scores, note_runs, store_scores
from benchcore.harness.touched import Touched, touched_coresets
from benchcore.registry.identity import digest
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from benchcore.registry.runs import new_run_id, record_run


@dataclass(frozen=True)
class Imported:
    """What an import found and did.

    Attributes:
        run_id: its name in `runs`, where it changed something.
        changed: whether a table got a new version.
        results: results read: one model, document, epoch and answer extraction each.
        documents: distinct documents in them.
        matched: results whose document is bound to a prompt.
        matched_documents: documents that are.
        bindings: rows added to, or replaced in, the table `bindings`.
        scores: rows added to, or replaced in, the table `scores`.
        present: scores that were there already.
        models: as the logs name them.
        notes: everything else that was noticed, by kind, with examples.
        coresets: of which picks these models have scores now.
        leaderboards: scores of whole tasks that the logs hold: leaderboard -> how many are in `leaderboards` now.
    """

    run_id: str
    changed: bool
    results: int
    documents: int
    matched: int
    matched_documents: int
    bindings: int
    scores: int
    present: int
    models: tuple[str, ...]
    notes: Notes
    coresets: tuple[Touched, ...]
    leaderboards: Mapping[str, int] = field(default_factory=dict)


def import_logs(
    registry: Registry,
    name: str,
    harness: Harness,
    paths: Sequence[Path],
    options: ImportOptions,
    *,
    advance: Advance | None = None,
) -> Imported:
    """Read logs, bind their documents to prompts, and store bindings and scores: one commit a table, under the lock.

    Args:
        registry: must have prompts.
        name: of the harness, as in `HARNESSES`.
        harness: the reader of its logs.
        paths: files or folders.
        options: what the user says about them.
        advance: is told how many more results have been read.

    Raises:
        UsageError: a path is no log of the harness, or an option names what there is not.
        BenchcoreError: no result was found, or none belongs to a prompt of the registry.
    """
    for path in paths:
        require_readable(path)
    if harness.results is None and harness.aggregates is None:
        raise UsageError(f"logs of {name} cannot be read", mend="See docs/harnesses.md for those that can.")
    leaderboards, changed = _store_aggregates(registry, harness, paths)
    with writer_lock(registry, "import", options.lock_timeout_s) as held:
        started = datetime.now(UTC)
        prompts = load_prompts(held, may_be_none=bool(leaderboards))
        reading = Reading(name, harness, options, _binder(held, prompts, name, harness, options), started)
        for path in paths:
            reading.read(path, advance)
        reading.require_one_model()
        reading.binder.settle()
        rows = reading.rows()
        if not leaderboards:
            reading.require_matches(paths)
            reading.require_scores(paths, rows)
        imported = _store(held, reading, rows, started=started, paths=paths)
        return replace(imported, leaderboards=leaderboards, changed=imported.changed or changed)


def _store_aggregates(registry: Registry, harness: Harness, paths: Sequence[Path]) -> tuple[dict[str, int], bool]:
    """Store what the logs say of whole tasks, where the harness's logs say such; under the lock, by itself.

    Returns:
        Leaderboard -> its scores, and whether any of them was not there already.
    """
    if harness.aggregates is None:
        return {}, False
    from benchcore.leaderboard.reading.stored import store

    stored: dict[str, int] = {}
    changed = False
    for path in paths:
        matrix = harness.aggregates(path)
        if matrix is not None:
            changed |= store(registry, matrix, str(path))
            stored[matrix.name] = int(np.isfinite(matrix.scores).sum())
    return stored, changed


def _binder(registry: Registry, prompts: Prompts, name: str, harness: Harness, options: ImportOptions) -> Binder:
    benchmarks = parse_benchmarks(options.bind, prompts.benchmarks())
    declared = replace(options.declared, benchmarks=benchmarks, by_record_id=harness.by_record_id)
    return Binder(prompts, name, declared, stored_bindings(registry, name))


def _store(
    registry: Registry, reading: Reading, rows: pa.Table, *, started: datetime, paths: Sequence[Path]
) -> Imported:
    run_id, binder, notes = new_run_id(), reading.binder, reading.notes
    models = tuple(reading.models)
    differing = differing_scores(registry, rows)
    replaces = reading.options.replace
    notes.add_many("replaced" if replaces else "differing", differences_of(differing), differing.num_rows)
    bindings = store_bindings(registry, binder)
    scores = store_scores(registry, rows, differing if replaces else differing.slice(0, 0))
    if bindings or scores:
        counts = {"results": reading.results, "bindings": bindings, "scores": scores}
        record_run(
            registry,
            run_id,
            command="import",
            configuration_hash=digest("import", reading.name, [str(path) for path in paths]),
            started=started,
            outcome="done",
            counts={"import": counts},
        )
    matched = [place for place, binding in enumerate(binder.bindings) if binding.number is not None]
    note_runs(registry, models, notes)
    _note_options(reading)
    return Imported(
        run_id=run_id,
        changed=bool(bindings or scores),
        results=reading.results,
        documents=len(binder.bindings),
        matched=sum(reading.of_places[place] for place in matched),
        matched_documents=len(matched),
        bindings=bindings,
        scores=scores,
        present=rows.num_rows - scores,
        models=models,
        notes=notes,
        coresets=touched_coresets(registry, models) if rows.num_rows else (),
    )


def _note_options(reading: Reading) -> None:
    if reading.options.run is not None and not reading.run_was_needed:
        reading.notes.add("unused option", f"--run {reading.options.run}: the log names its runs")
    for metric in reading.options.scales:
        if metric != EVERY_METRIC and metric not in reading.metrics:
            named = ", ".join(sorted(reading.metrics)[:5])
            reading.notes.add("unused option", f"--scale {metric}=...: no score is of this metric; there are {named}")
    tasks = {binding.task for binding in reading.binder.bindings}
    for task in reading.binder.declared.benchmarks:
        if task not in tasks:
            reading.notes.add("unused option", f"--bind {task}=...: no document is of this task")
    for coreset in reading.binder.prompts.unreadable:
        reading.notes.add("unreadable coreset", f"{coreset}: prompts that were edited since can no longer be read")
