"""`benchcore run`, and each of its steps alone: `ingest`, `embed`, `select`, `report`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchcore.cli.options import (
    Conf,
    Count,
    Debug,
    DryRun,
    Json,
    Quiet,
    Root,
    RunName,
    Set,
    configuration,
    start_logging,
)

if TYPE_CHECKING:
    from pathlib import Path

    from benchcore.pipeline.steps import RunOutcome


def run(
    conf: Conf,
    *,
    root: Root = None,
    settings: Set = None,
    k: Count = None,
    run_id: RunName = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Ingest, embed, select and report: the whole job.

    Each step skips what is already there.
    """
    from benchcore.pipeline.steps import STEPS

    perform(
        "run",
        STEPS,
        conf,
        root=root,
        settings=_with_k(settings, k),
        json=json,
        debug=debug,
        quiet=quiet,
        run_id=run_id,
    )


def ingest(
    conf: Conf,
    *,
    root: Root = None,
    settings: Set = None,
    run_id: RunName = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Read the declared sources into tables (Spark)."""
    perform(
        "ingest",
        ("ingest",),
        conf,
        root=root,
        settings=settings,
        json=json,
        debug=debug,
        quiet=quiet,
        run_id=run_id,
    )


def embed(
    conf: Conf,
    *,
    root: Root = None,
    settings: Set = None,
    run_id: RunName = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Encode the texts that have no vector yet (Ray)."""
    perform(
        "embed",
        ("embed",),
        conf,
        root=root,
        settings=settings,
        json=json,
        debug=debug,
        quiet=quiet,
        run_id=run_id,
    )


def select(
    conf: Conf,
    *,
    root: Root = None,
    settings: Set = None,
    k: Count = None,
    dry_run: DryRun = False,
    run_id: RunName = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Pick the prompts that stand for all (Ray)."""
    if dry_run:
        plan_only(conf, root=root, settings=_with_k(settings, k), json=json, debug=debug, quiet=quiet)
        return
    perform(
        "select",
        ("select",),
        conf,
        root=root,
        settings=_with_k(settings, k),
        json=json,
        debug=debug,
        quiet=quiet,
        run_id=run_id,
    )


def report(
    conf: Conf,
    *,
    root: Root = None,
    settings: Set = None,
    k: Count = None,
    run_id: RunName = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Write the page about the configuration's coreset."""
    perform(
        "report",
        ("report",),
        conf,
        root=root,
        settings=_with_k(settings, k),
        json=json,
        debug=debug,
        quiet=quiet,
        run_id=run_id,
    )


def _with_k(settings: list[str] | None, k: int | None) -> list[str]:
    return [*(settings or ()), *([f"select.k={k}"] if k is not None else ())]


def plan_only(
    conf: Path, *, root: str | None, settings: list[str] | None, json: bool, debug: bool, quiet: bool
) -> None:
    """Print what a selection would do; the body of `select --dry-run` here and in `jobs/`."""
    from benchcore.cli.dry_run import print_dry_run

    start_logging(quiet=quiet, debug=debug)
    print_dry_run(configuration(conf, root, settings), json=json)


def perform(
    command: str,
    steps: Sequence[str],
    conf: Path,
    *,
    root: str | None,
    settings: list[str] | None,
    json: bool,
    debug: bool,
    quiet: bool,
    run_id: str | None = None,
    isolate: bool = True,
) -> None:
    """Run steps and print what they did; the body of all commands here and of `jobs/`."""
    start_logging(quiet=quiet, debug=debug)
    config = configuration(conf, root, settings)

    from benchcore.config import load_sources
    from benchcore.pipeline import steps as pipeline

    specs = load_sources(config) if "ingest" in steps else []
    # Of other sections a setting may hold a key, and the line is kept in the table `runs`.
    picked_by = [f"--set {setting}" for setting in settings or () if setting.startswith("select.")]
    said = " ".join([command, str(conf), *picked_by])
    outcome = pipeline.run(config, specs, steps, command=said, run_name=run_id, isolate=isolate)
    _print(config.registry.root, outcome, json=json)


def _print(root: str, outcome: RunOutcome, *, json: bool) -> None:
    from benchcore.cli import summary
    from benchcore.cli.output import print_json

    if json:
        print_json(summary.as_json(root, outcome))
    else:
        summary.print_summary(root, outcome)
