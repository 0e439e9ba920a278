"""`benchcore registry check`, `vacuum` and `purge`: what is stored, verified, tidied up and removed."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from benchcore.cli.options import (
    Debug,
    Json,
    OptionalConf,
    Quiet,
    Root,
    Set,
    configuration,
    existing_registry,
    start_logging,
)

if TYPE_CHECKING:
    from benchcore.registry.purge.found import Found

_AGAIN = (
    "What is still in the raw files comes back when they are read again: take it out there first. Exports, reports and"
    " copies elsewhere are not touched."
)


def check(
    conf: OptionalConf = None,
    *,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Verify every invariant of the tables; one line for each that is broken, and the status 1 if there is any.

    Notices are of what may be, and should be known. Without CONF nothing is said about missing vectors: it names the
    encoder.
    """
    from benchcore.cli.output import print_json, print_line
    from benchcore.pipeline.metrics import tell_findings
    from benchcore.pipeline.missing_vectors import missing_vectors
    from benchcore.registry.checks.everything import CHECKS
    from benchcore.registry.checks.everything import check as look
    from benchcore.registry.checks.snapshot import Snapshot

    start_logging(quiet=quiet, debug=debug)
    config, started = configuration(conf, root, settings), time.monotonic()
    snapshot = Snapshot.of(existing_registry(config))
    findings = look(snapshot, CHECKS if conf is None else (*CHECKS, missing_vectors(config)))
    tell_findings(config.metrics, snapshot.registry.root, findings, time.monotonic() - started)
    broken = sum(finding.severity == "broken" for finding in findings)
    counts = {"broken": broken, "notices": len(findings) - broken, "tables": len(snapshot.versions)}
    if json:
        listed = [asdict(finding) | {"line": finding.line} for finding in findings]
        print_json({"root": snapshot.registry.root, **counts, "vectors_checked": conf is not None, "findings": listed})
    else:
        for finding in findings:
            print_line(f"{finding.severity:<7} {finding.check:<11} {finding.line}")
        print_line(f"{counts['tables']} tables: {broken:,} invariants broken, {counts['notices']:,} notices")
    if broken:
        raise typer.Exit(1)


def vacuum(
    conf: OptionalConf = None,
    *,
    keep_days: Annotated[
        int, typer.Option("--keep-days", min=0, help="For so many days back every version stays readable.")
    ] = 30,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Remove data files that no version of the last days and no manifest needs, and what runs have left behind.

    Versions that a manifest pins stay readable, however old they are.
    """
    from benchcore.cli.output import print_json, print_line, print_table
    from benchcore.machine import in_words
    from benchcore.pipeline.upkeep import vacuum_registry

    start_logging(quiet=quiet, debug=debug)
    config = configuration(conf, root, settings)
    done = vacuum_registry(config, existing_registry(config), keep_days, dry_run=dry_run)
    if json:
        print_json(asdict(done) | {"dry_run": dry_run, "keep_days": keep_days})
        return
    if done.files:
        rows = [(where, count, in_words(done.bytes[where])) for where, count in done.files.items()]
        print_table("would be removed" if dry_run else "removed", ("of", "files#", "size#"), rows)
    for name, dropped in done.unsealed.items():
        print_line(f"{name}: {dropped:,} rows of coresets without manifest {'would be' if dry_run else 'were'} dropped")
    if done.retention:
        print_line(f"retention {'would be' if dry_run else 'was'} set: {', '.join(done.retention)}")
    kept = sum(done.pinned.values())
    size = in_words(sum(done.bytes.values()))
    print_line(f"{sum(done.files.values()):,} files, {size}; {kept:,} versions are kept since manifests pin them")


def purge(
    conf: OptionalConf = None,
    *,
    prompt: Annotated[list[str] | None, typer.Option(metavar="ID", help="A prompt; repeatable.")] = None,
    benchmark: Annotated[list[str] | None, typer.Option(metavar="NAME", help="All of a benchmark; repeatable.")] = None,
    source: Annotated[list[str] | None, typer.Option(metavar="NAME", help="All of a source; repeatable.")] = None,
    copies: Annotated[bool, typer.Option("--copies", help="Also all other prompts of the same content.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it; without, only say what would go and what would break.")
    ] = False,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Remove prompts for good, from all tables and from what older versions keep of them.

    Vectors go with the texts that only these prompts say, scores and bindings with the prompts. CONF names the text
    template that vectors are of.
    """
    from benchcore.cli.output import print_json, print_line
    from benchcore.pipeline.upkeep import find_doomed, purge_registry
    from benchcore.registry.purge.target import Target

    start_logging(quiet=quiet, debug=debug)
    config = configuration(conf, root, settings)
    opened = existing_registry(config)
    target = Target(tuple(prompt or ()), tuple(benchmark or ()), tuple(source or ()), copies=copies)
    removed = dict[str, int]()
    if yes:
        found, removed = purge_registry(config, opened, target)
    else:
        found = find_doomed(config, opened, target)
    if json:
        print_json(_purged(found) | {"removed": yes, "counts": removed})
        return
    _print_purged(found)
    if found.files and not yes:
        print_line("nothing was removed: --yes does it, and it cannot be undone")


def _purged(found: Found) -> dict[str, object]:
    return {
        "prompts": sorted(found.doomed.ids),
        "rows": dict(found.rows),
        "files": dict(found.files),
        "same_content": dict(found.same),
        "picked": dict(found.picked),
        "unpinned": list(found.unpinned),
    }


def _print_purged(found: Found) -> None:
    from benchcore.cli.output import print_line, print_table
    from benchcore.distributed.vectors import by_benchmark

    if not found.files:
        print_line("nothing of these prompts is in the registry")
        return
    rows = [(name, found.rows.get(name, 0), count) for name, count in found.files.items()]
    print_table(f"{len(found.doomed.ids):,} prompts", ("table", "rows#", "files of all versions#"), rows)
    for coreset, count in found.picked.items():
        print_line(f"broken: coreset {coreset} loses {count:,} of its picks")
    if found.unpinned:
        listed = ", ".join(found.unpinned)
        print_line(f"unpinned: what these coresets were picked from cannot be read again: {listed}")
    if found.same:
        others = by_benchmark(Counter(found.same).elements())
        print_line(f"same content: {sum(found.same.values()):,} other prompts stay ({others}); --copies takes them too")
    print_line(_AGAIN)
