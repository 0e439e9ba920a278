"""`benchcore compare`: is one model better than another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchcore.cli.estimate import Level, Metric, Run, check_level, interval, whole_pool
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
    everything: Annotated[
        bool, typer.Option("--all", help="Compare on all prompts instead of the picks: where both have scores on them.")
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
    from benchcore.cli.output import print_json, print_line
    from benchcore.errors import UsageError
    from benchcore.registry.manifests import resolve_manifest
    from benchcore.scoring.comparison import compare as compared

    start_logging(quiet=quiet, debug=debug)
    check_level(level)
    if top_up and everything:
        raise UsageError("on all prompts there is nothing to pick", "--top-up", "Leave it out, or --all.")
    if top_up and conf is None:
        raise UsageError("picking further prompts needs the configuration of the coreset", "--top-up", "Name CONF.")
    config = configuration(conf, root, settings)
    opened = existing_registry(config)
    manifest = resolve_manifest(opened, coreset)
    pool = whole_pool(opened, manifest) if everything else None
    found = compared(opened, manifest, first, second, metric=tuple(metric or ()), run=run, level=level, pool=pool)
    new, missing = None, new_prompts(found, manifest)
    if top_up and missing:
        from benchcore.pipeline.top_up import top_up as topped_up

        new = topped_up(config, manifest.coreset_id, manifest.k + missing, command="compare --top-up")
    command = None if new is None else export_command(new, manifest, conf, root, settings)
    result = _as_json(found, manifest, new, command)
    if out is not None:
        _write(out, result)
    if json:
        print_json(result)
    else:
        _print(found, manifest)
        if new is not None:
            _print_picked(new, missing or 0, command)
        elif top_up:
            print_line(f"nothing was picked: {_why_none(found)}")


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
    """How many picks to add so that the further prompts get scores of both; None where no part of the others would do.

    Picks that only one has a score on come first. Of new ones as large a share gets scores as of those so far.
    """
    import math

    if found.everywhere or found.suite.further is None:
        return None
    missing = max(0, found.suite.further - found.one_sided)
    # A share of picks times their number is a whole number but for rounding.
    new = math.ceil(missing / _share(found, manifest) - 1e-9)
    return None if new and manifest.k + new >= _prompts(manifest) else new


def further(found: Comparison, manifest: Manifest) -> str | None:
    """How many prompts more would settle it, in one line; None where it is settled."""
    suite, new = found.suite, new_prompts(found, manifest)
    if suite.estimate is None or suite.further == 0 or found.everywhere:
        return None
    others = _prompts(manifest) - suite.prompts
    if suite.further is None or suite.further >= others:
        return (
            f"no part of the other {others:,} prompts would settle it: the whole suite differs by less than can be told"
        )
    told = f"{suite.further:,} further scored prompts would settle it if the difference stayed what it is"
    at_share = (
        f" at the share that was scored so far ({manifest.k - found.unscored:,} of {manifest.k:,}; the other"
        f" {found.unscored:,} come first if they can be scored)"
    )
    if new is None:
        return f"{told}, more than the other {_prompts(manifest) - manifest.k:,} would give{at_share}"
    if not new:
        return f"{told}: picks that only one of them has a score on so far"
    one_sided = f"{found.one_sided:,} picks that only one of them has a score on so far, and "
    about = f"about {new:,} picks more{at_share}" if found.unscored else f"{new:,} new ones"
    if not found.one_sided and not found.unscored:
        return f"{told} (--top-up CONF picks them)"
    return f"{told}: {one_sided if found.one_sided else ''}{about} (--top-up CONF)"


def _prompts(manifest: Manifest) -> int:
    return sum(int(row.get("distinct", row["prompts"])) for row in manifest.coverage)


def _share(found: Comparison, manifest: Manifest) -> float:
    """Of the picks so far, those that at least one has a score on: others cannot be scored, as it seems."""
    return (manifest.k - found.unscored) / manifest.k


def _why_none(found: Comparison) -> str:
    suite = found.suite
    if suite.estimate is None:
        return "no difference can be told yet"
    if suite.further == 0:
        return "the difference is settled"
    if suite.further is not None and suite.further <= found.one_sided:
        return "score the picks that only one of them has a score on"
    return "the other prompts would not settle it"


def export_command(
    new: str, manifest: Manifest, conf: Path | None, root: str | None, settings: Sequence[str] | None
) -> str:
    """To be pasted into a shell, but for the harness and the folder."""
    import shlex

    given = [*([str(conf)] if conf is not None else []), *(["--root", root] if root is not None else [])]
    given += [part for setting in settings or () for part in ("--set", setting)]
    return shlex.join(
        ["benchcore", "export", new, *given, "--only-new", manifest.coreset_id, "--harness", "NAME", "--out", "DIR"]
    )


def _as_json(found: Comparison, manifest: Manifest, new: str | None, command: str | None) -> dict[str, Any]:
    from dataclasses import asdict

    told = {"verdict": verdict(found), "new_prompts": new_prompts(found, manifest)}
    return asdict(found) | told | {"top_up": new, "export": command}


def _write(out: Path, result: dict[str, Any]) -> None:
    import orjson

    from benchcore.whole_file import write_file

    write_file(out, orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _print(found: Comparison, manifest: Manifest) -> None:
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


def _print_picked(new: str, count: int, command: str | None) -> None:
    from benchcore.cli.output import print_line, shown

    print_line(
        f"picked: coreset {new}, {count:,} picks more; `latest` is this one from now on. Export what is new with"
    )
    print_line(f"  {shown(command)}")
