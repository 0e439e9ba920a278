"""`benchcore leaderboard`: which few whole tasks predict the rest."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchcore.cli.leaderboard_compare import compare
from benchcore.cli.leaderboard_options import Matrix, ModelColumn, MtebSplit, reads_matrix
from benchcore.cli.options import Debug, Json, Quiet, start_logging
from benchcore.errors import UsageError
from benchcore.leaderboard.reading.declared import Declared

if TYPE_CHECKING:
    from benchcore.leaderboard.default import Choice
    from benchcore.leaderboard.matrix import ScoreMatrix
    from benchcore.leaderboard.protocol import Expected
    from benchcore.leaderboard.rules import Rules

log = logging.getLogger(__name__)

app = typer.Typer(help="Pick the few whole tasks that predict the rest.", no_args_is_help=True, rich_markup_mode=None)

_SPLITS = ("random", "strongest")
_LEAST_MODELS = 5  # to hold some out
_LARGE = 10**6  # cells of a matrix for which errors are measured at fewer numbers of tasks
_SIZES, _FEW_SIZES = 20, 5

ListedTasks = Annotated[list[str] | None, typer.Option(metavar="TASK", help="Name of a task; repeatable.")]


app.command("compare")(compare)


@app.callback()
def leaderboard() -> None:
    """Pick the few whole tasks of a leaderboard that predict the rest."""


@app.command()
@reads_matrix
def select(
    matrix: Matrix,
    *,
    k: Annotated[int | None, typer.Option("-k", "--k", help="How many tasks to pick.", show_default=False)] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="AMOUNT", help="Largest sum of costs instead, e.g. 40h; needs --costs.")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Table or JSON of tasks and what each costs.")
    ] = None,
    include: ListedTasks = None,
    exclude: ListedTasks = None,
    at_most_one_from: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Groups of tasks, from each of which at most one is picked.")
    ] = None,
    reading: Declared,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Whether to measure the error on models not used for choosing.")
    ] = True,
    repeats: Annotated[
        int | None, typer.Option(help="Splits of each kind for that (default: 50, fewer for large matrices).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of these splits; the picks do not depend on it.")] = 0,
    export: Annotated[
        str | None, typer.Option(metavar="FORM", help="Print the picks for a harness instead: mteb, lm-eval or list.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write picks.json there, for `predict`, and what was measured.")
    ] = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Pick K tasks, and say how well they predict all others for models that were not used for choosing.

    MATRIX has a row a model and a column a task; cells may be missing. Scales and directions that are neither declared
    nor plain are an error, not a guess. Picks come at once; the errors follow.
    """
    start_logging(quiet=quiet, debug=debug)
    from benchcore.cli.leaderboard_tables import expected_rows, print_expected, print_selected
    from benchcore.leaderboard.default import choose
    from benchcore.leaderboard.picks_file import write_json
    from benchcore.leaderboard.reading.beside import budget_in
    from benchcore.leaderboard.reading.read import read_matrix, tell
    from benchcore.leaderboard.rules import rules_for

    _require_usable(k, budget, costs, repeats, export)
    if json and export is not None:
        raise UsageError("both would be printed", where="--json and --export", mend="Give one of them.")
    read = read_matrix(matrix, replace(reading, costs=costs, groups=at_most_one_from))
    tell(read)
    amount = None if budget is None else budget_in(budget, read.cost_unit)
    first, out_of_it, groups = tuple(include or ()), tuple(exclude or ()), _groups(read)
    choice = choose(read, k, include=first, exclude=out_of_it, budget=amount, at_most_one=groups)
    _show_picks(choice, read, matrix, export=export, out=out, json=json)
    expected: list[Expected] = []
    if check and (export is None or out is not None):
        rules = rules_for(read, first, out_of_it, amount, groups)
        expected = _measure(read, rules, k, repeats=repeats, seed=seed)
    if out is not None and expected:
        write_json(out / "errors.json", expected_rows(expected, read))
    if json:
        print_selected(choice, read, expected)
    elif export is None:
        print_expected(expected, choice, read)


@app.command()
def predict(
    picks: Annotated[Path, typer.Argument(metavar="PICKS", help="picks.json, as `select --out` wrote it.")],
    scores: Annotated[
        str,
        typer.Argument(
            metavar="SCORES",
            help="Scores on the picks: a table with a row a model, or with columns task and score; JSON; a folder.",
        ),
    ],
    *,
    model_column: ModelColumn = None,
    mteb_split: MtebSplit = None,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Predict every other task and the mean, for new models with scores on the picks.

    Scores are in the units of the matrix. Tasks that were measured besides the picks keep their scores.
    """
    start_logging(quiet=quiet, debug=debug)
    from benchcore.cli.leaderboard_tables import print_forecasts
    from benchcore.cli.output import shown as printable
    from benchcore.leaderboard.forecast import forecast
    from benchcore.leaderboard.picks_file import read_picks
    from benchcore.leaderboard.reading.new_scores import read_new_scores

    file = read_picks(picks)
    how = Declared(model_column=model_column, split=mteb_split, transpose=False)
    models, values, notes = read_new_scores(scores, file.tasks, file.scales, how)
    for note in notes:
        log.warning("%s", printable(note))
    found = forecast(file, models, values)
    for each in found:
        for warning in each.warnings:
            log.warning("%s: %s", printable(each.model), printable(warning))
    print_forecasts(found, json=json)


@app.command()
@reads_matrix
def redundancy(
    matrix: Matrix,
    *,
    same: Annotated[float, typer.Option(help="Least correlation of two tasks that say the same.")] = 0.95,
    reading: Declared,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Say which tasks say the same, which say nothing (noise), and which say what no other does."""
    start_logging(quiet=quiet, debug=debug)
    from benchcore.cli.leaderboard_tables import print_redundancy
    from benchcore.leaderboard.reading.read import read_matrix, tell
    from benchcore.leaderboard.redundancy import redundancy as find

    if not 0 < same <= 1:
        raise UsageError(f"{same:g} is no correlation above 0", where="--same", mend="For example 0.95.")
    read = read_matrix(matrix, reading)
    tell(read)
    found = find(read, same=same)
    for note in found.notes:
        log.warning("%s: %s", read.name, note)
    print_redundancy(found, read, same=same, json=json)


@app.command()
@reads_matrix
def store(
    matrix: Matrix,
    *,
    root: Annotated[str, typer.Option("--root", metavar="URI", help="Registry root.")],
    reading: Declared,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Write a leaderboard into the table `leaderboards` of a registry; the same one again changes nothing."""
    start_logging(quiet=quiet, debug=debug)
    from benchcore.cli.output import print_line
    from benchcore.leaderboard.families import family_of
    from benchcore.leaderboard.reading.read import read_matrix, tell
    from benchcore.leaderboard.reading.stored import store as write
    from benchcore.registry.root import Registry

    read = read_matrix(matrix, reading, usable=False)
    tell(read)
    if read.families != tuple(family_of(model) for model in read.models):
        log.warning("%s: families are not stored: names tell them when the leaderboard is read again", read.name)
    changed = write(Registry.at(root), read, matrix)
    shape = f"{len(read.models):,} models, {len(read.tasks):,} tasks"
    print_line(f"{read.name}: {shape}, {'written' if changed else 'unchanged'}")


def _require_usable(
    k: int | None, budget: str | None, costs: Path | None, repeats: int | None, export: str | None
) -> None:
    """Refuse options that cannot be followed before anything is read."""
    from benchcore.leaderboard.export import EXPORTS
    from benchcore.methods.names import require_known

    if export is not None:
        require_known(export, EXPORTS, "form", "--export")
    if k is None and budget is None:
        raise UsageError("Missing option '-k'", mend="Give it, or --budget with --costs.")
    if budget is not None and costs is None:
        raise UsageError("a budget needs to know what tasks cost", where="--budget", mend="Give --costs FILE.")
    if repeats is not None and repeats < 1:
        raise UsageError(f"{repeats} is not above 0", where="--repeats")


def _groups(matrix: ScoreMatrix) -> list[list[str]] | None:
    if matrix.groups is None:
        return None
    members: dict[str, list[str]] = {}
    for task, group in zip(matrix.tasks, matrix.groups, strict=True):
        if group:
            members.setdefault(group, []).append(task)
    return list(members.values())


def _show_picks(
    choice: Choice, matrix: ScoreMatrix, source: str, *, export: str | None, out: Path | None, json: bool
) -> None:
    """Write and print the picks before anything is measured."""
    from benchcore.cli.leaderboard_tables import print_picks
    from benchcore.cli.output import print_line
    from benchcore.leaderboard.export import EXPORTS, FILES
    from benchcore.leaderboard.picks_file import document_of, write_json
    from benchcore.whole_file import write_file

    suite = f"{matrix.name}_{len(choice.tasks)}"
    if out is not None:
        (out / "errors.json").unlink(missing_ok=True)  # of other picks
        write_json(out / "picks.json", document_of(choice, matrix, source))
        for form in dict.fromkeys(["list", *([export] if export else [])]):
            write_file(out / FILES[form], EXPORTS[form](suite, choice.tasks).encode())
    if export == "lm-eval":
        log.warning("names are those of the matrix; lm-eval may have others, such as mmlu_... for the subjects of MMLU")
    if export is not None:
        print_line(EXPORTS[export](suite, choice.tasks).rstrip("\n"))
    elif not json:
        print_picks(choice, matrix)
    sys.stdout.flush()


def _measure(matrix: ScoreMatrix, rules: Rules, k: int | None, *, repeats: int | None, seed: int) -> list[Expected]:
    """Errors on models that were not used, at each number of tasks up to that of the choice."""
    from benchcore.leaderboard.protocol import expected_errors, repeats_for
    from benchcore.progress import progress

    if len(matrix.models) < _LEAST_MODELS:
        log.warning("%d models are too few to hold some out: no error was measured", len(matrix.models))
        return []
    ks: list[int | None] = [k]  # within a budget the picks at fewer are others than the first ones of these
    if rules.budget is None and k is not None:
        most = _SIZES if matrix.scores.size < _LARGE else _FEW_SIZES
        ks = list(_sizes(max(1, len(rules.include)), k, most))
    times = repeats or repeats_for(matrix)
    with progress("measure", len(_SPLITS) * times, "splits") as advance:
        return expected_errors(matrix, ks, rules, splits=_SPLITS, repeats=times, seed=seed, advance=advance)


def _sizes(first: int, last: int, most: int) -> list[int]:
    """Numbers of tasks that errors are measured at: each one where they are few, else closer together at first."""
    if last - first < most:
        return list(range(first, last + 1))
    steps = (last / first) ** (1 / (most - 1))
    return sorted({round(first * steps**step) for step in range(most)})
