"""`benchcore export` and `benchcore import`: a coreset to a harness, and the harness's scores back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from benchcore.config import Config
    from benchcore.harness.binding import Declared
    from benchcore.harness.entry import Harness
    from benchcore.harness.importing import Imported

_LISTED = 20

Coreset = Annotated[
    str, typer.Argument(metavar="CORESET", help="Id of a coreset, its first characters, or latest.", show_default=False)
]
Bind = Annotated[
    list[str] | None,
    typer.Option(metavar="TASK=BENCHMARK", help="Whose prompts the documents of a task are; repeatable."),
]
Prompt = Annotated[
    str | None,
    typer.Option(metavar="TEMPLATE", help="What the prompt is in the harness's records, e.g. '{{ question }}'."),
]


def export(
    coreset: Coreset,
    conf: OptionalConf = None,
    *,
    harness: Annotated[str, typer.Option(metavar="NAME", help="Which harness; a wrong name lists them.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder: new, empty, or of an earlier export of the same.")],
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Log over whole tasks, or dump, that shows the harness's documents; needed once; repeatable.",
        ),
    ] = None,
    bind: Bind = None,
    prompt: Prompt = None,
    only_new: Annotated[
        str | None, typer.Option(metavar="CORESET", help="Leave out the picks of this older coreset.")
    ] = None,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Write a coreset for a harness, with the command to run.

    Prompts are matched with the harness's documents by content. CONF lets the registry's own sources say what a
    harness's records are.

    benchcore export latest --harness jsonl --out picked

    benchcore export latest conf.yaml --harness lm-eval --out picked --documents logs/samples_gsm8k_2026.jsonl
    """
    from dataclasses import asdict

    from benchcore.cli.noticed import tell
    from benchcore.cli.output import print_json, print_line, print_table, shown
    from benchcore.harness.exporting import ExportOptions, export_coreset
    from benchcore.registry.manifests import resolve_manifest

    start_logging(quiet=quiet, debug=debug)
    entry = _harness(harness, exports=True)
    config = configuration(conf, root, settings)
    opened = existing_registry(config)
    options = ExportOptions(
        documents=tuple(documents or ()),
        bind=tuple(bind or ()),
        declared=_declared(config, prompt),
        older=None if only_new is None else resolve_manifest(opened, only_new),
        lock_timeout_s=config.registry.lock_timeout_s,
    )
    manifest = resolve_manifest(opened, coreset)
    outcome = export_coreset(opened, manifest, harness, entry, out.absolute(), options=options)
    if json:
        print_json(asdict(outcome) | {"out": str(outcome.out), "coreset": manifest.coreset_id, "harness": harness})
        return
    tell(outcome.notes)
    rows: list[tuple[str, object]] = [
        ("coreset", manifest.coreset_id),
        ("picks" if only_new is None else "picks that are new", outcome.picks),
        ("exported", outcome.exported),
        *((f"left out: {reason}", count) for reason, count in outcome.left_out.items()),
        ("edited since, exported as pinned", outcome.edited or None),
        ("retired since", outcome.retired or None),
        ("new bindings", outcome.bindings or None),
        ("folder", str(out)),
    ]
    print_table(None, (f"export to {harness}", ""), [row for row in rows if row[1] is not None])
    print_line(f"Run in {shown(out)}:")
    print_line(outcome.command)


def import_(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH... [CONF]", help="Logs: files or folders.", show_default=False)
    ],
    *,
    harness: Annotated[str | None, typer.Option(metavar="NAME", help="Whose logs; a wrong name lists them.")] = None,
    map_file: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="How logs of your own are read (YAML).")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model of all logs.")] = None,
    run: Annotated[str | None, typer.Option(metavar="NAME", help="For logs that name no run.")] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(metavar="[METRIC=]LOW:HIGH", help="Of raw scores; LOW above HIGH: lower is better; repeatable."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let scores take the place of stored ones that differ.")
    ] = False,
    bind: Bind = None,
    prompt: Prompt = None,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Read a harness's logs into the table of scores. Doing it twice adds nothing.

    A last PATH that ends in .yaml or .yml is the configuration.

    benchcore import logs/ --harness lm-eval --root registry

    benchcore import scores.csv --harness jsonl --model mine --scale rating=1:10

    benchcore import result.json --map bfcl.yaml
    """
    from dataclasses import asdict

    from benchcore.cli.noticed import tell
    from benchcore.cli.output import print_json
    from benchcore.harness.importing import import_logs
    from benchcore.harness.log_reading import ImportOptions
    from benchcore.harness.scores import parse_scales
    from benchcore.progress import counting

    start_logging(quiet=quiet, debug=debug)
    logs, conf = _split(paths)
    name, entry = _reader(harness, map_file)
    config = configuration(conf, root, settings)
    opened = existing_registry(config)
    options = ImportOptions(
        model=model,
        run=run,
        scales=parse_scales(scale or ()),
        replace=replace,
        bind=tuple(bind or ()),
        declared=_declared(config, prompt),
        lock_timeout_s=config.registry.lock_timeout_s,
    )
    with counting(f"reading {name} logs", "results") as advance:
        imported = import_logs(opened, name, entry, logs, options, advance=advance)
    if json:
        print_json(asdict(imported))
        return
    tell(imported.notes)
    _show(imported)


def _show(imported: Imported) -> None:
    from benchcore.cli.output import print_line, print_table

    rows: list[tuple[str, object]] = [
        ("models", ", ".join(imported.models[:5]) + (" ..." if len(imported.models) > 5 else "")),
        ("results read", imported.results),
        ("matched", imported.matched),
        ("documents", imported.documents),
        ("bound to prompts", imported.matched_documents),
        ("new bindings", imported.bindings),
        ("new scores", imported.scores),
        ("scores that were there", imported.present),
    ]
    rows += [(f"leaderboard {name}: scores", count) for name, count in imported.leaderboards.items()]
    print_table(None, ("import", ""), rows)
    if imported.coresets:
        listed = [(row.coreset_id, row.model, row.picks, row.scored) for row in imported.coresets]
        print_table("coresets", ("coreset", "model", "picks#", "scored#"), listed[:_LISTED])
        if len(listed) > _LISTED:
            print_line(f"{len(listed) - _LISTED} more rows, and picks that have no scores yet: --json")


def _names(*, exports: bool) -> list[str]:
    """The harnesses that can be exported to, or else those whose logs can be imported."""
    from benchcore.harness import HARNESSES

    if exports:
        return [name for name, entry in HARNESSES.items() if entry.export is not None]
    return [name for name, entry in HARNESSES.items() if entry.results is not None or entry.aggregates is not None]


def _harness(name: str, *, exports: bool) -> Harness:
    """The harness of a name.

    Raises:
        UsageError: there is none; names the nearest and all.
    """
    import difflib

    from benchcore.errors import UsageError
    from benchcore.harness import HARNESSES

    if name in HARNESSES:
        return HARNESSES[name]
    names = _names(exports=exports)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(f"no harness '{name}'", where="--harness", mend=f"{hint}There are {', '.join(names)}.")


def _reader(harness: str | None, map_file: Path | None) -> tuple[str, Harness]:
    from benchcore.errors import UsageError

    if map_file is not None:
        from benchcore.harness.mapped import harness_of, read_map

        if harness not in (None, "mapped"):
            raise UsageError(f"--map goes without --harness {harness}", where="--map")
        return "mapped", harness_of(read_map(map_file), str(map_file))
    if harness is None:
        mend = f"One of {', '.join(_names(exports=False))}; or --map FILE for logs of your own."
        raise UsageError("whose logs are these?", where="--harness", mend=mend)
    if harness == "mapped":
        raise UsageError("the mapping is missing", where="--harness mapped", mend="Give --map FILE.")
    return harness, _harness(harness, exports=False)


def _split(paths: list[Path]) -> tuple[list[Path], Path | None]:
    """The logs, and the configuration where the last path is one."""
    if len(paths) > 1 and paths[-1].suffix in (".yaml", ".yml"):
        return paths[:-1], paths[-1]
    return paths, None


def _declared(config: Config, prompt: str | None) -> Declared:
    from pathlib import PurePosixPath

    from benchcore.config import load_sources
    from benchcore.harness.binding import Declared, Source
    from benchcore.ingest.mapping import compile_mapping
    from benchcore.ingest.templates import Template

    sources = [
        Source(spec.name, compile_mapping(spec, config.ingest.max_characters), PurePosixPath(_first(spec.path)))
        for spec in load_sources(config)
    ]
    return Declared(prompt=Template(prompt, "--prompt", "--prompt") if prompt else None, sources=sources)


def _first(patterns: Any) -> str:
    return patterns if isinstance(patterns, str) else patterns[0]
