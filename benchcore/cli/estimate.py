"""`benchcore estimate`: the whole suite's scores, from scores on a coreset."""

from __future__ import annotations

from collections.abc import Sequence
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
    from benchcore.registry.manifests import Manifest
    from benchcore.registry.root import Registry
    from benchcore.scoring.estimates import Estimates
    from benchcore.scoring.matrix import Wanted
    from benchcore.scoring.target_estimate import TargetEstimate

Coreset = Annotated[
    str, typer.Argument(metavar="CORESET", help="Id of a coreset, its first characters, or latest.", show_default=False)
]
Level = Annotated[float, typer.Option(help="How often intervals are to hold the true score.")]
Metric = Annotated[
    list[str] | None,
    typer.Option(metavar="[BENCHMARK=]METRIC", help="Which metric counts, for all or one benchmark; repeatable."),
]
Run = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only this run counts; default: the newest of each prompt.")
]

_EVERY_EVAL_EVER = "every-eval-ever"
_ALARMS = 5  # so many are shown
_WHERE_FROM = {
    "design": "design: the picks were drawn at random, and the interval holds as often as it says",
    "audit": "audit: from the picks that were drawn at random for it, and holds as often as it says",
    "model": "model: as if the picks had been drawn, which they were not: no design vouches for it",
    "exact": "exact: every prompt has a score",
}


def estimate(
    coreset: Coreset,
    conf: OptionalConf = None,
    *,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this model; repeatable. Shows all targets.")
    ] = None,
    panel: Annotated[
        bool, typer.Option("--panel", help="Lean on the models that have scores on nearly all prompts (AIPW).")
    ] = False,
    panel_model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Lean on this model instead; repeatable.")
    ] = None,
    all_targets: Annotated[bool, typer.Option("--all", help="List what is not estimable, too.")] = False,
    metric: Metric = None,
    run: Run = None,
    level: Level = 0.95,
    out: Annotated[Path | None, typer.Option(metavar="FILE.json", help="Write the estimates to a file, too.")] = None,
    format: Annotated[
        str, typer.Option("--format", help=f"Of the file: json, or {_EVERY_EVAL_EVER} for one model.")
    ] = "json",
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the suite's scores from those on a coreset.

    For the suite, each category and each benchmark, with intervals (docs/estimates.md).

    benchcore estimate latest --root registry

    benchcore estimate latest --model org/model --metric gsm8k=exact_match,strict-match

    benchcore estimate 3f2a --panel --json

    benchcore estimate latest --model mine --out mine.json --format every-eval-ever
    """
    from benchcore.cli.output import print_json
    from benchcore.errors import BenchcoreError
    from benchcore.registry.manifests import resolve_manifest
    from benchcore.scoring.estimates import estimate as estimated

    start_logging(quiet=quiet, debug=debug)
    _check(level, format, out)
    opened = existing_registry(configuration(conf, root, settings))
    manifest = resolve_manifest(opened, coreset)
    found = estimated(
        opened,
        manifest,
        models=model or None,
        metric=metric or (),
        run=run,
        level=level,
        pool=whole_pool(opened, manifest) if panel or panel_model else None,
        panel=panel_model or None,
    )
    if not found.targets:
        raise BenchcoreError(
            "; ".join((f"no model has scores on the picks of {manifest.coreset_id}", *found.notes[:-1])),
            where=opened.root,
            mend="`benchcore import` reads a harness's logs.",
        )
    if out is not None:
        _write(out, format, found)
    if json:
        print_json(as_json(found))
    else:
        _print(found, manifest, detailed=bool(model) or all_targets, everything=all_targets)


def check_level(level: float) -> None:
    """Raise UsageError for a level that is none."""
    from benchcore.errors import UsageError

    if not 0 < level < 1:
        raise UsageError(f"{level:g} is not between 0 and 1", where="--level", mend="95 % is 0.95.")


def as_json(found: Estimates) -> dict[str, Any]:
    """All that is known, scores in [0, 1]."""
    from dataclasses import asdict

    return asdict(found)


def interval(estimate: float | None, low: float | None, high: float | None) -> str:
    """`61.2 [57.9, 64.4]`, in points."""
    if estimate is None or low is None or high is None:
        return "not estimable"
    return f"{100 * estimate:.1f} [{100 * low:.1f}, {100 * high:.1f}]".replace("-0.0", "0.0")


def _check(level: float, format: str, out: Path | None) -> None:
    from benchcore.errors import UsageError

    check_level(level)
    if format not in ("json", _EVERY_EVAL_EVER):
        raise UsageError(f"no format '{format}'", where="--format", mend=f"There are json and {_EVERY_EVAL_EVER}.")
    if format != "json" and out is None:
        raise UsageError("a format is of a file", where="--format", mend="Name the file with --out FILE.json.")


def whole_pool(opened: Registry, manifest: Manifest) -> Wanted:
    """All prompts that a coreset stands for."""
    from benchcore.pipeline.pinned_pool import pinned_pool
    from benchcore.scoring.matrix import Wanted

    return Wanted.of(pinned_pool(opened, manifest))


def _write(out: Path, format: str, found: Estimates) -> None:
    """Write a file as a whole.

    Raises:
        UsageError: the schema holds one model, and there are more.
    """
    import orjson

    from benchcore.errors import UsageError
    from benchcore.whole_file import write_file

    content: Any = as_json(found)
    if format == _EVERY_EVAL_EVER:
        names = sorted({each.model for each in found.targets})
        if len(names) > 1:
            mend = f"Name one with --model: {', '.join(names[:5])}."
            raise UsageError(f"a file of this schema holds one model, and there are {len(names)}", "--format", mend)
        content = _aggregate(names[0], found)
    write_file(out, orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _aggregate(model: str, found: Estimates) -> dict[str, Any]:
    import time

    import benchcore
    from benchcore.harness.every_eval_ever.writing import aggregate

    return aggregate(
        model,
        found.targets,
        coreset_id=found.coreset_id,
        metric=", ".join(sorted(set(found.metrics.values()))),
        retrieved=time.time(),
        library_version=benchcore.__version__,
        confidence=found.level,
    )


def _print(found: Estimates, manifest: Manifest, *, detailed: bool, everything: bool) -> None:
    from benchcore.cli.output import print_line

    models = list(dict.fromkeys(each.model for each in found.targets))
    print_line(f"coreset {manifest.coreset_id}, {manifest.k:,} picks; points of 100 [{100 * found.level:g} % interval]")
    print_line()
    if detailed or len(models) == 1:
        for model in models:
            _print_model(model, [each for each in found.targets if each.model == model], everything=everything)
    else:
        _print_suite(found)
    kinds = dict.fromkeys(each.kind for each in found.targets if each.estimate is not None)
    for kind in kinds:
        print_line(_WHERE_FROM[kind])
    for line in told(found):
        print_line(line)


def _print_suite(found: Estimates) -> None:
    """A row a model, the strongest first."""
    from benchcore.cli.output import print_line, print_table

    suite = [each for each in found.targets if each.target == "suite"]
    suite.sort(key=lambda each: (1.0 if each.estimate is None else -each.estimate, each.model))
    print_table(
        "suite (--model NAME shows a model's categories and benchmarks)",
        ("model", "score#", "picks#", "missing#", "n_eff#", "borrowed#", "interval from"),
        [(each.model, *_cells(each)) for each in suite],
    )
    needed = [each.needed_k for each in suite if each.needed_k is not None]
    if needed:
        print_line(f"k = {max(needed):,} would be enough for all")
        print_line()


def _print_model(model: str, targets: Sequence[TargetEstimate], *, everything: bool) -> None:
    from benchcore.cli.output import print_line, print_table, shown

    print_line(shown(model))
    columns = ("target", "score#", "picks#", "missing#", "n_eff#", "borrowed#", "interval from")
    listed = [each for each in targets if everything or each.estimate is not None or each.target == "suite"]
    print_table(None, columns, [(each.target, *_cells(each)) for each in listed])
    _print_lacking(targets)


def _cells(each: TargetEstimate) -> tuple[object, ...]:
    score = interval(each.estimate, each.low, each.high)
    borrowed = f"{100 * each.borrowed:.0f} %" if each.borrowed > 0 else "-"
    where = each.kind if each.estimate is not None else each.reason
    return score, each.prompts, each.missing or None, f"{each.n_eff:.1f}", borrowed, where


def _print_lacking(targets: Sequence[TargetEstimate]) -> None:
    """What is not estimable, by reason, and the size of a coreset that would change it."""
    from collections import Counter

    from benchcore.cli.output import print_line

    lacking = [each for each in targets if each.estimate is None]
    if not lacking:
        return
    reasons = Counter("fewer than 10 effective picks" if each.n_eff > 0 else str(each.reason) for each in lacking)
    why = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common())
    needed = [each.needed_k for each in lacking if each.needed_k is not None]
    enough = f"; k = {max(needed):,} would be enough for {_all_of(len(needed), len(lacking))}" if needed else ""
    targets_are = "1 target is" if len(lacking) == 1 else f"{len(lacking):,} targets are"
    print_line(f"{targets_are} not estimable: {why}{enough} (--all lists them)")
    print_line()


def _all_of(some: int, whole: int) -> str:
    return ("it" if whole == 1 else "all") if some == whole else f"{some:,} of them"


def told(found: Estimates) -> list[str]:
    """The bias test, alarms and notes, a line each."""
    from benchcore.cli.output import shown

    lines = []
    if found.bias is not None:
        bias = found.bias
        audited = any(each.kind == "audit" and each.estimate is not None for each in found.targets)
        instead = "trust the audit's intervals" if audited else "trust no interval, and draw a larger select.audit"
        verdict = f"the chosen picks mislead: {instead}" if bias.biased else "no sign that they mislead"
        lines.append(
            f"bias of the {bias.core:,} chosen picks against {bias.audit:,} of the audit, over {bias.models:,} models:"
            f" {interval(bias.difference, bias.low, bias.high)} points (p = {bias.p_value:.2g}); {verdict}"
        )
    lines += [
        f"alarm: {alarm.model} finds other prompts hard than the {alarm.others:,} others do (agreement"
        f" {alarm.agreement:.2f}, usual {alarm.usual:.2f}, alarm below {alarm.least:.2f}): score it on everything once"
        " before trusting its estimate"
        for alarm in found.alarms[:_ALARMS]
    ]
    if len(found.alarms) > _ALARMS:
        chance = 0.05 * len(found.models)
        lines.append(
            f"alarm: {len(found.alarms) - _ALARMS:,} more of {len(found.models):,} models (--json has them; of models"
            f" that are all alike, about {chance:.0f} would raise one)"
        )
    return [shown(line) for line in (*lines, *(f"note: {note}" for note in found.notes))]
