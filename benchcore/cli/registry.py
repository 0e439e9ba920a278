"""`benchcore registry`: look at what is stored; `upkeep.py` has the commands that verify and maintain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchcore.cli import upkeep
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
from benchcore.machine import in_words

if TYPE_CHECKING:
    from benchcore.registry.manifests import Manifest
    from benchcore.registry.root import Registry

app = typer.Typer(help="Look at what a registry holds, verify and maintain it.", rich_markup_mode=None)
app.command()(upkeep.check)
app.command()(upkeep.vacuum)
app.command()(upkeep.purge)

Name = Annotated[str, typer.Argument(metavar="CORESET", help="Id of a coreset, its first characters, or latest.")]


@app.command("list")
def list_(
    conf: OptionalConf = None,
    *,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """List tables with their versions and rows, and the coresets."""
    from benchcore.cli.output import print_json, print_table

    start_logging(quiet=quiet, debug=debug)
    opened = _opened(conf, root, settings)
    tables, coresets = _tables(opened), _coresets(opened)
    if json:
        print_json({"root": opened.root, "tables": tables, "coresets": coresets})
        return
    print_table(opened.root, ("table", "version#", "rows#"), [tuple(row.values()) for row in tables])
    if coresets:
        columns = ("coreset", "picks#", "value#", "at least of optimum#", "method", "run", "since")
        print_table("coresets", columns, [tuple(row.values()) for row in coresets])


@app.command()
def show(
    coreset: Name,
    conf: OptionalConf = None,
    *,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Show one coreset: its manifest, its picks and their weights for the whole suite."""
    from dataclasses import asdict

    from benchcore.cli.output import print_json, print_table
    from benchcore.registry.manifests import read_weights, resolve_manifest
    from benchcore.report.reading import picked_prompts

    start_logging(quiet=quiet, debug=debug)
    opened = _opened(conf, root, settings)
    manifest = resolve_manifest(opened, coreset)
    weights = read_weights(opened, manifest.coreset_id)
    picks = [row | {"weight": weights.get(row["prompt_id"])} for row in picked_prompts(opened, manifest)]
    if json:
        print_json({"manifest": asdict(manifest), "picks": picks})
        return
    print_table(None, ("manifest (--json has all of it)", ""), _facts(manifest))
    columns = ("rank", "benchmark", "path", "source_row", "gain", "represents", "weight", "prompt")
    headings = ("rank#", "benchmark", "path", "row#", "gain#", "represents#", "weight#", "prompt")
    rows = [(*(pick[column] for column in columns[:-1]), _beginning(pick["prompt"])) for pick in picks]
    print_table("picks", headings, rows)


@app.command()
def history(
    conf: OptionalConf = None,
    *,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """List the runs that changed something, the newest last."""
    import orjson

    from benchcore.cli.output import print_json, print_table
    from benchcore.cli.summary import counted
    from benchcore.registry.tables import read

    start_logging(quiet=quiet, debug=debug)
    runs = read(_opened(conf, root, settings), "runs").sort_by("run_id").to_pylist()
    if json:
        print_json(runs)
        return
    rows = [
        (run["run_id"], run["command"], run["outcome"], _seconds(run), step, counted(counts))
        for run in runs
        for step, counts in (orjson.loads(run["counts"]) or {"-": {}}).items()
    ]
    print_table(None, ("run", "command", "outcome", "seconds#", "step", "counts"), rows)


def _opened(conf: Any, root: str | None, settings: list[str] | None) -> Registry:
    return existing_registry(configuration(conf, root, settings))


def _tables(opened: Registry) -> list[dict[str, Any]]:
    from benchcore.registry.schemas import SCHEMAS
    from benchcore.registry.tables import dataset, pin

    versions = pin(opened, tuple(SCHEMAS))
    return [
        {"table": name, "version": version, "rows": dataset(opened, name, version).count_rows()}
        for name, version in versions.items()
    ]


def _coresets(opened: Registry) -> list[dict[str, Any]]:
    from benchcore.registry.checks.coresets import changed_since
    from benchcore.registry.checks.snapshot import Snapshot

    snapshot = Snapshot.of(opened)
    since = changed_since(snapshot)
    return [
        {
            "coreset": manifest.coreset_id,
            "picks": manifest.k,
            "value": manifest.value,
            "ratio": manifest.certificate.get("ratio"),
            "method": manifest.semantic_configuration.get("method"),
            "run": manifest.run_id,
            "since": since.get(manifest.coreset_id),
        }
        for manifest in snapshot.manifests
    ]


def _facts(manifest: Manifest) -> list[tuple[str, object]]:
    from benchcore.registry.manifests import certainty

    certificate = manifest.certificate
    return [
        ("coreset", manifest.coreset_id),
        ("method", manifest.semantic_configuration.get("method")),
        ("picks", manifest.k),
        ("seed", manifest.seed),
        ("value", manifest.value),
        ("upper bound", certificate.get("upper_bound")),
        ("at least of the optimum", certificate.get("ratio")),
        ("certificate", f"{certificate['kind']}{certainty(certificate)}" if certificate else None),
        ("run", manifest.run_id),
        ("table versions", ", ".join(f"{name} {version}" for name, version in manifest.table_versions.items())),
        *_planned(manifest),
    ]


def _planned(manifest: Manifest) -> list[tuple[str, object]]:
    """How the work was divided, and what it took; nothing of a coreset that was selected before plans were kept."""
    plan = manifest.plan
    if not plan:
        return []
    merges = [f"{level['merges']} of {level['candidates']:,} candidates" for level in plan["merges"]]
    shards = f"{plan['shards']['number']} shards" + (f"; merges: {', then '.join(merges)}" if merges else "")
    expected, took = sum(part["seconds"] for part in plan["rounds"]), sum(manifest.timings.values())
    memory = in_words(max(part["memory"] for part in plan["rounds"]))
    return [
        ("plan", f"{plan['way']}, {shards}; {plan['workers']} workers on {plan['cpus']} CPUs"),
        ("seconds", f"{took:,.0f} (expected {expected:,.0f}, and at most {memory})"),
    ]


def _beginning(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def _seconds(run: dict[str, Any]) -> float | None:
    return (run["finished"] - run["started"]).total_seconds() if run["finished"] and run["started"] else None
