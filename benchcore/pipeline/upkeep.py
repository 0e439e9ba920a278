"""Maintenance of a registry as runs of their own: under its lock, with a row in `runs` where something changed."""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from benchcore.config import Config, EmbedSection
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.logs import name_run
from benchcore.pipeline.metrics import measured_upkeep
from benchcore.pipeline.steps import configuration_hash
from benchcore.registry.identity import DIGEST_CHARACTERS
from benchcore.registry.lock import writer_lock
from benchcore.registry.manifests import list_manifests
from benchcore.registry.purge.found import Found, TextHashes, find
from benchcore.registry.purge.removal import purge
from benchcore.registry.purge.target import Target
from benchcore.registry.root import Registry
from benchcore.registry.runs import new_run_id, record_run
from benchcore.registry.tables import dataset
from benchcore.registry.vacuum import Vacuumed, vacuum

_ID = re.compile(rf"[0-9a-f]{{{DIGEST_CHARACTERS}}}")

Counts = dict[str, dict[str, int]]  # step -> counter -> number


def vacuum_registry(config: Config, registry: Registry, keep_days: int, *, dry_run: bool) -> Vacuumed:
    """Remove what nothing needs; see `vacuum`.

    Args:
        config: for the patience with other writers.
        registry: that is there.
        keep_days: for so many days back every version stays readable.
        dry_run: take no lock, remove nothing.
    """
    keep = timedelta(days=keep_days)
    if dry_run:
        return vacuum(registry, keep, dry_run=True)
    command = f"registry vacuum --keep-days {keep_days}"
    run_id = new_run_id()
    name_run(run_id)
    with (
        measured_upkeep(config.metrics, registry.root, "vacuum"),
        writer_lock(registry, command, config.registry.lock_timeout_s) as held,
    ):
        started = datetime.now(UTC)
        done = vacuum(held, keep, dry_run=False)
        _record(held, config, run_id, command=command, started=started, counts={"vacuum": done.counts})
        return done


def find_doomed(config: Config, registry: Registry, target: Target) -> Found:
    """Say what a purge would remove and what it would break; takes no lock, removes nothing.

    Raises:
        UsageError: the target names nothing, or a benchmark or source that the registry never had.
        BenchcoreError: a data file cannot be read.
    """
    _require_known(registry, target)
    return find(registry, target, _text_hashes(config, registry))


def purge_registry(config: Config, registry: Registry, target: Target) -> tuple[Found, dict[str, int]]:
    """Remove prompts for good; see `purge`. Killed at any moment and run again, it ends as if it had run once.

    Returns:
        What was found once the lock was held, and counts of what was removed.

    Raises:
        UsageError: as `find_doomed`.
        BenchcoreError: as `find_doomed`; or a table cannot be written.
    """
    from benchcore.ingest.staging import engine_lock

    _require_known(registry, target)
    command = f"registry purge {target.arguments}"
    run_id = new_run_id()
    name_run(run_id)
    # The engine's lock too: the Spark of a run that was killed could still write what has just been removed.
    with writer_lock(registry, command, config.registry.lock_timeout_s) as held, engine_lock(held):
        started = datetime.now(UTC)
        found = find(held, target, _text_hashes(config, held))
        if not found.files:
            return found, {}
        counts = purge(held, found, run_id)
        _record(held, config, run_id, command=command, started=started, counts={"purge": counts})
        return found, counts


def _record(
    registry: Registry, config: Config, run_id: str, *, command: str, started: datetime, counts: Counts
) -> None:
    """Write the row of a run, unless it had nothing to do."""
    if any(counts.values()):
        record_run(
            registry,
            run_id,
            command=command,
            configuration_hash=configuration_hash(config, ()),
            started=started,
            outcome="done",
            counts=counts,
        )


def _require_known(registry: Registry, target: Target) -> None:
    if not (target.prompts or target.benchmarks or target.sources):
        raise UsageError("nothing is named", mend="Give --prompt ID, --benchmark NAME or --source NAME.")
    for prompt in target.prompts:
        if not _ID.fullmatch(prompt):  # else a purge of a misspelt id would look done
            mend = f"It has {DIGEST_CHARACTERS} hexadecimal digits; `registry show CORESET --json` has those of picks."
            raise UsageError(f"'{prompt}' is no id of a prompt", where="--prompt", mend=mend)
    for column, named in (("benchmark", target.benchmarks), ("source", target.sources)):
        known = _names(registry, column) if named else set()
        for name in sorted(set(named) - known):
            near = difflib.get_close_matches(name, sorted(known), n=1)
            mend = f"Did you mean '{near[0]}'?" if near else f"There are {', '.join(sorted(known)[:8])}, ..."
            raise UsageError(f"the registry never had a {column} '{name}'", where=registry.root, mend=mend)


def _names(registry: Registry, column: str) -> set[str]:
    names = set[str]()
    for table in ("sources", "prompts"):
        for batch in dataset(registry, table).to_batches(columns=[column]):
            names.update(batch.column(0).unique().to_pylist())
    return names


def _text_hashes(config: Config, registry: Registry) -> TextHashes:
    """Name texts by every template that vectors may be of: the configuration's, the manifests' and the default."""
    from benchcore.embedding.text import Renderer
    from benchcore.registry.identity import text_hash

    blocks = [block for manifest in list_manifests(registry) for block in manifest.encoders.values()]
    templates = {config.embed.text, EmbedSection().text, "{{ prompt_id }}"}  # the last: of the user's own vectors
    templates |= {block["text"] for block in blocks if "text" in block}
    renderers = []
    for template in sorted(templates):
        with suppress(UsageError):  # of another release
            renderers.append(Renderer(EmbedSection(text=template)))

    def named(rows: pa.Table) -> set[str]:
        found = set[str]()
        for row in rows.to_pylist():
            for renderer in renderers:
                with suppress(BenchcoreError):  # what cannot be rendered has no vector
                    found.add(text_hash(renderer.render(row)))
        return found

    return named
