"""`benchcore compare`: is one model better than another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchcore.cli.estimate import Level, Metric, Run, check_level, interval
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
    from benchcore.registry.manifests import Manifest
    from benchcore.scoring.comparison import Comparison


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A model.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another model.", show_default=False)],
    conf: OptionalConf = None,
    *,
    coreset: Annotated[str, typer.Option(metavar="CORESET", help="Id, its first characters, or latest.")] = "latest",
    top_up: Annotated[
        bool, typer.Option("--top-up", help="Pick the further prompts that would settle it; needs CONF.")
    ] = False,
    metric: Metric = None,
    run: Run = None,
    level: Level = 0.95,
    out: Annotated[Path | None, typer.Option(metavar="FILE.json", help="Write the result to a file, too.")] = None,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Say whether one model is better than another.

    From their scores on the same prompts of a coreset, with an interval and what would settle it.

    benchcore compare org/old org/new --root registry

    benchcore compare old new conf.yaml --coreset 3f2a --top-up
    """
    from benchcore.cli.output import print_json
    from benchcore.errors import UsageError
    from benchcore.registry.manifests import resolve_manifest
    from benchcore.scoring.comparison import compare as compared

    start_logging(quiet=quiet, debug=debug)
    check_level(level)
    if top_up and conf is None:
        raise UsageError("picking further prompts needs the configuration of the coreset", "--top-up", "Name CONF.")
    config = configuration(conf, root, settings)
    opened = existing_registry(config)
    manifest = resolve_manifest(opened, coreset)
    found = compared(opened, manifest, first, second, metric=tuple(metric or ()), run=run, level=level)
    new, missing = None, new_prompts(found, manifest)
    if top_up and missing:
        from benchcore.pipeline.top_up import top_up as topped_up

        new = topped_up(config, manifest.coreset_id, manifest.k + missing, command="compare --top-up")
    result = _as_json(found, new)
    if out is not None:
        _write(out, result)
    if json:
        print_json(result)
    else:
        _print(found, manifest, new)


def verdict(found: Comparison) -> str:
    """The result for the suite in one line."""
    suite = found.suite
    if suite.estimate is None or suite.low is None or suite.high is None:
        return f"not comparable: {suite.n_eff:.1f} effective picks with scores of both are fewer than 10"
    if suite.low > 0 or suite.high < 0:
        better, worse = (found.first, found.second) if suite.low > 0 else (found.second, found.first)
        sign = 1.0 if suite.low > 0 else -1.0
        ends = sorted((sign * suite.low, sign * suite.high))
        return f"{better} is better than {worse} by {interval(sign * suite.estimate, *ends)} points"
    apart = interval(suite.estimate, suite.low, suite.high)
    return f"{found.first} and {found.second} cannot be told apart: the difference is {apart} points"


def new_prompts(found: Comparison, manifest: Manifest) -> int | None:
    """How many of the further prompts are no picks yet; None where no part of the others would settle it."""
    suite = found.suite
    if suite.further is None or suite.prompts + suite.further >= _prompts(manifest):
        return None
    return max(0, suite.further - _lacking(found, manifest))


def further(found: Comparison, manifest: Manifest) -> str | None:
    """How many prompts more would settle it, in one line; None where it is settled."""
    suite, new, lacking = found.suite, new_prompts(found, manifest), _lacking(found, manifest)
    if suite.estimate is None or suite.further == 0:
        return None
    if suite.further is None or new is None:
        return (
            f"no part of the other {_prompts(manifest) - suite.prompts:,} prompts would settle it: the whole suite"
            " differs by less than can be told"
        )
    told = f"{suite.further:,} further prompts would settle it if the difference stayed what it is"
    if not lacking:
        return f"{told} (--top-up CONF picks them)"
    if not new:
        return f"{told}: picks that have no score of both so far"
    return f"{told}: {lacking:,} picks that have no score of both so far, and {new:,} new ones (--top-up CONF)"


def _prompts(manifest: Manifest) -> int:
    return sum(int(row.get("distinct", row["prompts"])) for row in manifest.coverage)


def _lacking(found: Comparison, manifest: Manifest) -> int:
    return manifest.k - found.suite.prompts


def _as_json(found: Comparison, new: str | None) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(found) | {"verdict": verdict(found), "top_up": new}


def _write(out: Path, result: dict[str, Any]) -> None:
    import orjson

    from benchcore.whole_file import write_file

    write_file(out, orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _print(found: Comparison, manifest: Manifest, new: str | None) -> None:
    from benchcore.cli.output import print_line, print_table, shown

    known = [each for each in found.targets if each.estimate is not None]
    print_line(f"{shown(found.first)} less {shown(found.second)}, points of 100 [{100 * found.level:g} % interval]")
    print_table(
        None,
        ("target", "difference#", "prompts#", "borrowed#", "interval from"),
        [
            (
                each.target,
                interval(each.estimate, each.low, each.high),
                each.prompts,
                f"{100 * each.borrowed:.0f} %" if each.borrowed > 0 else None,
                each.kind,
            )
            for each in known
        ],
    )
    lacking = len(found.targets) - len(known)
    if lacking:
        have = "1 target has" if lacking == 1 else f"{lacking:,} targets have"
        print_line(f"{have} fewer than 10 effective picks with scores of both")
        print_line()
    for note in found.notes:
        print_line(shown(f"note: {note}"))
    print_line(shown(verdict(found)))
    line = further(found, manifest)
    if line is not None:
        print_line(line)
    if new is not None:
        print_line(f"picked: coreset {new}; export what is new of it with")
        print_line(f"  benchcore export {new} --only-new {manifest.coreset_id} --harness NAME --out DIR")
