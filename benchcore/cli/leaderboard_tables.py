"""What the commands of `benchcore leaderboard` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from benchcore.cli.output import print_json, print_line, print_table, shown

if TYPE_CHECKING:
    from benchcore.leaderboard.default import Choice
    from benchcore.leaderboard.forecast import Forecast
    from benchcore.leaderboard.matrix import ScoreMatrix
    from benchcore.leaderboard.protocol import Expected
    from benchcore.leaderboard.redundancy import Redundancy

_SHOWN = 10  # tasks that are predicted worst
_SPLITS = {"random": "random half", "strongest": "strongest 30 %"}


def print_picks(choice: Choice, matrix: ScoreMatrix) -> None:
    """The picks in their order, with what they cost."""
    costs, unit = matrix.costs, matrix.cost_unit
    rows: list[list[object]] = [[str(rank), task] for rank, task in enumerate(choice.tasks, 1)]
    title = f"{matrix.name}: {len(choice.tasks)} of {len(matrix.tasks)} tasks"
    if costs is None:
        _print_table(title, ["rank#", "task"], rows)
        return
    own = costs[list(choice.picks)]
    rows = [[*row, float(cost)] for row, cost in zip(rows, own, strict=True)]
    _print_table(f"{title}, {own.sum():,.6g} {unit or 'in all'}", ["rank#", "task", f"{unit or 'cost'}#"], rows)


def expected_rows(expected: list[Expected], matrix: ScoreMatrix) -> dict[str, Any]:
    """What was measured, as JSON."""
    rows = [
        {
            "split": each.split,
            "k": each.k,
            "mae": each.mae,
            "mae_low": each.low,
            "mae_high": each.high,
            "kendall_tau": each.kendall_tau,
            "top1_regret": each.top1_regret,
            "repeats": each.repeats,
            "judged": each.judged,
            "scored": each.scored,
        }
        for each in expected
    ]
    last = {each.split: each for each in expected}
    tasks = [
        {"task": task, **{f"mae_{split}": each.tasks[at] for split, each in last.items()}}
        for at, task in enumerate(matrix.tasks)
    ]
    return {"errors": rows, "tasks": tasks}


def print_selected(choice: Choice, matrix: ScoreMatrix, expected: list[Expected]) -> None:
    costs = matrix.costs
    print_json(
        {
            "leaderboard": matrix.name,
            "models": len(matrix.models),
            "tasks_in_all": len(matrix.tasks),
            "method": choice.method,
            "estimator": choice.estimator,
            "picks": list(choice.tasks),
            "cost": None if costs is None else float(costs[list(choice.picks)].sum()),
            "repairs": list(matrix.repairs),
            **expected_rows(expected, matrix),
        }
    )


def print_expected(expected: list[Expected], choice: Choice, matrix: ScoreMatrix) -> None:
    if not expected:
        return
    kinds = list(dict.fromkeys(each.split for each in expected))
    by_kind = [[each for each in expected if each.split == kind] for kind in kinds]
    columns = ["k#"]
    for kind in kinds:
        columns += [f"{_SPLITS.get(kind, kind)}: points", "90 %", "tau#", "regret#"]
    rows: list[list[object]] = []
    for own in zip(*by_kind, strict=True):  # within a budget kinds of split can differ in how many tasks it pays for
        ks = sorted({each.k for each in own})
        rows.append(["-".join(map(str, ks)), *(cell for each in own for cell in _cells(each))])
    splits = max(each.repeats for each in expected)
    _print_table(
        f"Error of the predicted mean on models not used for choosing ({splits} splits of each kind)", columns, rows
    )
    print_line(
        "90 %: of the splits. tau: of the ranking of these models. regret: points from the best to the one chosen."
    )
    lacking = [each for each in expected if each.scored < each.k]
    if lacking and np.isnan(matrix.scores).any():
        each = lacking[-1]
        print_line(
            f"With {each.k} picks {each.judged:.0f} models a split were judged, which had scores on {each.scored:.1f} "
            "of them on average: the error of a model that has them all is smaller."
        )
    print_line()
    _print_worst(expected, choice, matrix)


def _cells(each: Expected) -> list[object]:
    cells = [f"{each.mae:.2f}", f"{each.low:.2f}-{each.high:.2f}", f"{each.kendall_tau:.3f}", f"{each.top1_regret:.2f}"]
    return ["-" if "nan" in cell else cell for cell in cells]


def _print_worst(expected: list[Expected], choice: Choice, matrix: ScoreMatrix) -> None:
    """The tasks that are predicted worst, and how much worse their mean over models would be."""
    last = {each.split: each for each in expected}
    first = next(iter(last.values()))
    picked = np.isin(np.arange(len(matrix.tasks)), choice.picks)
    order = np.argsort(np.where(picked | np.isnan(first.tasks), np.inf, -first.tasks), kind="stable")
    spread = 100 * np.array([np.nanmean(np.abs(column - np.nanmean(column))) for column in matrix.scores.T])
    rows: list[list[object]] = [
        [matrix.tasks[at], *(_points(each.tasks[at]) for each in last.values()), f"{spread[at]:.1f}"]
        for at in order[:_SHOWN]
        if not picked[at]
    ]
    columns = ["task", *(f"{_SPLITS.get(split, split)}: points#" for split in last), "by its mean#"]
    if rows:
        _print_table("Remaining tasks that are predicted worst, beside the error of their mean", columns, rows)


def _points(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"


def print_forecasts(found: tuple[Forecast, ...], *, json: bool) -> None:
    if json:
        print_json([asdict(each) for each in found])
        return
    for each in found:
        rows: list[list[object]] = [
            [t.task, _short(t.score), "measured" if t.measured else f"{_short(t.low)} to {_short(t.high)}"]
            for t in each.tasks
        ]
        interval = f"90 % interval {each.mean_low:.2f} to {each.mean_high:.2f}"
        mean = f"{each.mean:.2f} points of 100, {interval}; tasks in their own units"
        _print_table(f"{each.model}: mean over {len(each.tasks)} tasks {mean}", ["task", "score#", "90 %"], rows)


def _short(value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def print_redundancy(found: Redundancy, matrix: ScoreMatrix, *, same: float, json: bool) -> None:
    from benchcore.cli.output import print_json
    from benchcore.leaderboard.redundancy import ALONE, NOISE

    if json:
        print_json({"leaderboard": matrix.name, **asdict(found)})
        return
    _print_table(
        f"{matrix.name}: tasks that say the same (all correlate by {same:g} or more)",
        ["tasks#", "least#", "stands for the others", "the others"],
        [[len(c.tasks), f"{c.least:.3f}", c.tasks[0], ", ".join(c.tasks[1:])] for c in found.clusters],
    )
    columns = ["task", "explained#", "of family#", "closest", "correlation#"]
    for verdict, title in (
        (NOISE, "Tasks that say nothing: neither other tasks nor families explain anything"),
        (ALONE, "Tasks that nothing else says: others explain less than half"),
    ):
        rows: list[list[object]] = [
            [
                t.task, f"{t.explained:.2f}", "-" if t.of_family is None else f"{t.of_family:.2f}", t.closest,
                f"{t.correlation:.2f}",
            ]
            for t in found.of(verdict)
        ]  # fmt: skip
        _print_table(title if rows else f"{title} (none)", columns, rows)


def _print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table below a title that may be wider than it."""
    print_line(shown(title))
    if rows:
        print_table(None, columns, rows)
    else:
        print_line()
