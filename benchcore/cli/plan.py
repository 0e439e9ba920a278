"""`benchcore plan`: what a budget buys, before any model is run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchcore.cli.options import Conf, Debug, Json, Quiet, Root, Set, configuration, start_logging
from benchcore.errors import UsageError

if TYPE_CHECKING:
    from benchcore.pipeline.planning import Answer, Plan, Size

_KINDS = ("svg", "png")
_COLUMNS_OF_BENCHMARKS = 6


def plan(
    conf: Conf,
    *,
    points: Annotated[
        float | None, typer.Option(help="Smallest k whose 95 % range of a model's score is at most so many points.")
    ] = None,
    gap: Annotated[
        float | None, typer.Option(help="Smallest k that tells two models apart that differ by so many points.")
    ] = None,
    tokens: Annotated[float | None, typer.Option(help="What so many tokens buy, read and written.")] = None,
    money: Annotated[float | None, typer.Option(help="What so much money buys, by plan.prices.")] = None,
    price: Annotated[str | None, typer.Option(metavar="NAME", help="By one of the prices; default: each.")] = None,
    coverage: Annotated[float | None, typer.Option(help="Fewest picks that cover the suite so well, e.g. 0.8.")] = None,
    k_max: Annotated[int | None, typer.Option("--k-max", help="Largest k looked at; wins over plan.k_max.")] = None,
    benchmarks: Annotated[bool, typer.Option("--benchmarks", help="Print every benchmark's coverage too.")] = False,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .svg or .png.")] = None,
    root: Root = None,
    settings: Set = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Say what each k buys: coverage, error, tokens, money.

    Writes no coreset; the order of the picks is kept, so that `select` with any of these k is quick. For example

    benchcore plan conf/demo.yaml --points 3 --tokens 50000
    """
    start_logging(quiet=quiet, debug=debug)
    kind = "" if figure is None else _kind(figure)
    config = configuration(conf, root, [*(settings or ()), *([] if k_max is None else [f"plan.k_max={k_max}"])])
    from benchcore.cli.output import print_json
    from benchcore.pipeline import planning

    asked = planning.Questions(points, gap, tokens, money, price, coverage)
    planning.require_sense(config.plan, asked)
    made = planning.plan(config)
    answers = planning.answered(made, asked)
    if figure is not None:
        _draw(made, figure, kind)
    if json:
        print_json(as_json(made, answers))
    else:
        _print(made, answers, benchmarks=benchmarks)


def as_json(made: Plan, answers: tuple[Answer, ...]) -> dict[str, Any]:
    """The plan for scripts."""
    config = made.config
    return {
        "root": config.registry.root,
        "method": config.select.method,
        "mass": config.select.mass,
        "prompts": made.prompts,
        "distinct": made.distinct,
        "benchmarks": len(made.names),
        "k_min": made.k_min,
        "k_max": made.k_max,
        "audit": config.select.audit,
        "currency": config.plan.currency,
        "sizes": [_size(made.size(k)) for k in made.grid()],
        "answers": [asdict(answer) | {"size": _looked_at(made, answer.k)} for answer in answers],
        "notes": list(made.notes),
    }


def _size(size: Size) -> dict[str, Any]:
    return asdict(size) | {"tokens": size.tokens}


def _looked_at(made: Plan, k: int | None) -> dict[str, Any] | None:
    """What is known of an answer's k; nothing of one beyond the largest that was looked at."""
    return _size(made.size(k)) if k is not None and k <= made.k_max else None


def _kind(figure: Path) -> str:
    kind = figure.suffix.removeprefix(".").lower()
    if kind not in _KINDS:
        raise UsageError(f"'{figure.name}' is no figure", where="--figure", mend="End it in .svg or .png.")
    return kind


def _draw(made: Plan, figure: Path, kind: str) -> None:
    from benchcore.pipeline.planning.figure import drawn
    from benchcore.whole_file import write_file

    write_file(figure, drawn(made, kind))


def _print(made: Plan, answers: tuple[Answer, ...], *, benchmarks: bool) -> None:
    from benchcore.cli.output import print_line, print_table

    sizes = [made.size(k) for k in made.grid()]
    columns, rows = _table(made, sizes)
    title = f"{made.config.select.method}: {made.prompts:,} prompts, {len(made.names)} benchmarks"
    print_table(title, columns, rows)
    if benchmarks and made.coverage is not None:
        shown = sizes[:: -(-len(sizes) // _COLUMNS_OF_BENCHMARKS)]
        headings = ("benchmark", *(f"k = {size.k:,}#" for size in shown))
        print_table("coverage by benchmark", headings, [_of_benchmark(name, shown) for name in made.names])
    for answer in answers:
        print_line(f"{answer.question}: {answer.told}")
    if answers:
        print_line()
    for note in made.notes:
        print_line(note)


def _table(made: Plan, sizes: list[Size]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Columns that the plan has something to say in."""
    columns: list[tuple[str, list[object]]] = [("k#", [size.k for size in sizes])]
    if made.coverage is not None:
        columns.append(("coverage#", [f"{size.coverage:.4f}" for size in sizes]))
        columns.append(("least of a benchmark#", [f"{min((size.benchmarks or {}).values()):.4f}" for size in sizes]))
    if made.curves is not None:
        expected = [size.expected for size in sizes if size.expected is not None]
        columns.append(("score within#", [_points(found.margin.mean, found.measured) for found in expected]))
        columns.append(("on suites", [f"{found.margin.low:.1f}-{found.margin.high:.1f}" for found in expected]))
        columns.append(("differences from#", [_points(found.gap.mean, found.measured) for found in expected]))
        columns.append(("on suites", [f"{found.gap.low:.1f}-{found.gap.high:.1f}" for found in expected]))
    columns.append(("tokens read#", [size.input_tokens for size in sizes]))
    columns.append(("written#", [size.output_tokens for size in sizes]))
    for name in made.config.plan.prices:
        costs: list[object] = [f"{size.money[name]:,.2f}" for size in sizes]
        columns.append((f"{name}, {made.config.plan.currency}#", costs))
    headings = tuple(name for name, _ in columns)
    return headings, list(zip(*(values for _, values in columns), strict=True))


def _points(points: float, measured: bool) -> str:
    return f"{points:.1f}{'' if measured else '*'}"


def _of_benchmark(name: str, shown: list[Size]) -> tuple[object, ...]:
    return (name, *(f"{(size.benchmarks or {})[name]:.4f}" for size in shown))
