"""`benchcore leaderboard compare`: every method that picks whole tasks with every estimator."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchcore.cli.leaderboard_options import names, reads_matrix
from benchcore.cli.options import Debug, Quiet, start_logging
from benchcore.errors import UsageError
from benchcore.leaderboard.reading.declared import Declared

if TYPE_CHECKING:
    from benchcore.leaderboard.compare import Row, Standing

_SHOWN = 25  # pairs of a method and an estimator


@reads_matrix
def compare(
    matrix: Annotated[
        list[str], typer.Argument(metavar="MATRIX...", help="As for `select`; several are compared together.")
    ],
    *,
    k: Annotated[str | None, typer.Option("-k", "--k", metavar="K,K", help="Numbers of tasks (default: 1-20).")] = None,
    splits: Annotated[
        str, typer.Option(metavar="KIND,KIND", help="Of models: random, family, strongest.")
    ] = "random,family,strongest",
    repeats: Annotated[int, typer.Option(help="Splits of each kind.")] = 50,
    methods: Annotated[str | None, typer.Option(metavar="NAME,NAME", help="Default: all.")] = None,
    estimators: Annotated[str | None, typer.Option(metavar="NAME,NAME", help="Default: all.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a row for each cell there.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write rows, standings and a figure there.")] = None,
    transfer: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="In-context transfer between tasks, of the first MATRIX; repeatable."),
    ] = None,
    reading: Declared,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods and estimators on models that were used neither for choosing nor for learning.

    The index is the geometric mean of a pair's error over that of random picks with ridge, over random splits and those
    with the strongest models held out, at 3, 5, 8, 10, 15 and 20 tasks.
    """
    start_logging(quiet=quiet, debug=debug)
    from benchcore.leaderboard.compare import Plan, standings
    from benchcore.leaderboard.compare import compare as run
    from benchcore.leaderboard.comparison_files import write_comparison
    from benchcore.leaderboard.picks_file import write_json
    from benchcore.leaderboard.reading.read import read_matrix, tell
    from benchcore.leaderboard.transfer import read_transfer
    from benchcore.progress import progress

    if repeats < 1:
        raise UsageError(f"{repeats} is not above 0", where="--repeats")
    plan = Plan(
        ks=_numbers(k),
        splits=names(splits),
        repeats=repeats,
        methods=names(methods),
        estimators=names(estimators),
        seed=seed,
    )
    read = [read_matrix(each, reading) for each in matrix]
    for each in read:
        tell(each)
    blocks = {read[0].name: read_transfer(transfer, read[0].tasks)} if transfer else {}
    with progress("compare", len(read) * len(plan.splits) * repeats, "splits") as advance:
        rows = run(read, plan, transfer=blocks, advance=advance)
    if json is not None:
        write_json(json, [asdict(row) for row in rows])
    if out is not None:
        write_comparison(rows, out)
    _print(rows, standings(rows))


def _numbers(written: str | None) -> tuple[int, ...]:
    for text in names(written):
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"'{text}' is no whole number above 0", where="--k", mend="For example 3,5,8.")
    return tuple(int(text) for text in names(written))


def _print(rows: list[Row], best: list[Standing]) -> None:
    from benchcore.cli.output import print_table

    if best:
        print_table(
            "Error relative to random picks with ridge",
            ["method", "estimator", "index#", "worst cell#", "cells#"],
            [
                [
                    _named(s),
                    s.estimator,
                    _short(s.index),
                    _short(s.worst),
                    s.cells,
                ]
                for s in best[:_SHOWN]
            ],
        )
    estimators = _best_estimators(rows, best)
    for name, split in dict.fromkeys((row.matrix, row.split) for row in rows):
        own = {(row.method, row.estimator, row.k): row.mae for row in rows if (row.matrix, row.split) == (name, split)}
        ks = sorted({k for _, _, k in own})
        shown = [k for k in ks if k in (1, 3, 5, 8, 10, 15, 20)] if len(ks) > 8 else ks
        lines: list[list[object]] = [
            [method, estimator, *(_short(own.get((method, estimator, k))) for k in shown)]
            for method, estimator in estimators.items()
        ]
        print_table(f"{name}, {split}: points", ["method", "estimator", *(f"k={k}#" for k in shown)], lines)


def _named(standing: Standing) -> str:
    return f"{standing.method} (default)" if standing.is_default else standing.method


def _best_estimators(rows: list[Row], best: list[Standing]) -> dict[str, str]:
    """Each method with its best estimator, where there is an index to say so."""
    pairs = [(s.method, s.estimator) for s in best] or [(row.method, row.estimator) for row in rows]
    found: dict[str, str] = {}
    for method, estimator in pairs:
        found.setdefault(method, estimator)
    return found


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
