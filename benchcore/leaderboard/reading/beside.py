"""Files beside a leaderboard: what each task costs, and groups of tasks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Costs, named
from benchcore.leaderboard.reading.columns import listed, read_columns
from benchcore.leaderboard.reading.documents import parsed
from benchcore.leaderboard.reading.names import TASK_COLUMNS
from benchcore.methods.names import require_known

_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)"  # a comma groups thousands; 1,5 could be either
_AMOUNT = re.compile(rf"\s*([$€]?)\s*({_NUMBER})\s*([A-Za-z$€]*)\s*")
_UNNAMED = ("", "cost", "costs", "price", "value")


def read_costs(file: Path, tasks: tuple[str, ...]) -> tuple[Costs, str, tuple[str, ...]]:
    """Read what each task costs.

    Args:
        file: a column of tasks and one of numbers, whose name is their unit (hours, tokens, dollars; cost: none);
            or a JSON object `{task: cost}`.
        tasks: that need a cost.

    Returns:
        (tasks,) costs, their unit (empty if the file does not say), and what was noticed.

    Raises:
        UsageError: a task has no cost, or one that is not above 0.
    """
    unit, costs = _pairs(file)
    missing = [task for task in tasks if task not in costs]
    if missing:
        raise UsageError(f"says no cost of {len(missing):,} tasks: {named(missing)}", where=str(file))
    values = np.zeros(len(tasks))
    for at, task in enumerate(tasks):
        number = _float(str(costs[task]))
        if number is None:
            raise UsageError(f"task '{task}' costs '{costs[task]}', which is no number", where=str(file))
        values[at] = number
        if not (np.isfinite(values[at]) and values[at] > 0):
            raise UsageError(f"task '{task}' costs {values[at]:g}; costs are above 0", where=str(file))
    unknown = [task for task in costs if task not in tasks]
    notes = (f"costs of tasks that the matrix lacks are not used: {named(unknown)}",) if unknown else ()
    return values, unit, notes


def budget_in(written: str, unit: str) -> float:
    """A budget in the unit of the costs.

    Args:
        written: a number, with a unit or without (40h, 2.5 hours, 30000).
        unit: of the costs, empty if it is not known.

    Raises:
        UsageError: it is no number above 0, or its unit does not go with that of the costs.
    """
    found = _AMOUNT.fullmatch(written)
    amount = _float(found[2]) if found else None
    if found is None or amount is None or amount <= 0 or (found[1] and found[3]):
        raise UsageError(f"'{written}' is no amount", where="--budget", mend="For example 40h, 1.5h, $40, or 40.")
    named_unit = found[1] or found[3]
    own, theirs = _stem(named_unit), _stem(unit)
    if not own or own == theirs:
        return amount
    if own in _SECONDS and theirs in _SECONDS:
        return amount * _SECONDS[own] / _SECONDS[theirs]
    what = f"are in {unit}" if unit else "have no unit"
    mend = "Name the column of costs after its unit, for example hours, or write the budget without one."
    raise UsageError(f"'{written}' is in '{named_unit}', and the costs {what}", where="--budget", mend=mend)


def read_groups(file: Path, tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Read groups, from each of which at most one task is picked.

    Args:
        file: a table with the columns `task` and `group`; JSON, `{group: [task, ...]}` or `{task: group}`; or text
            with a group a line, its tasks separated by commas.
        tasks: of the matrix.

    Returns:
        The group of each task, empty for a task in none.

    Raises:
        UsageError: a task is not known, or in two groups.
    """
    groups: dict[str, str] = {}
    for task, group in _grouped(file):
        require_known(task, tasks, "task", str(file))
        if groups.setdefault(task, group) != group:
            raise UsageError(f"task '{task}' is in two groups ({groups[task]}, {group})", where=str(file))
    return tuple(groups.get(task, "") for task in tasks)


def _pairs(file: Path) -> tuple[str, dict[str, object]]:
    if file.suffix == ".json":
        document = _json(file)
        if isinstance(document, dict) and not any(isinstance(value, (dict, list)) for value in document.values()):
            return "", {str(task): cost for task, cost in document.items()}
    columns = read_columns(file)
    tasks = next((column for column in columns if column[0].lower() in TASK_COLUMNS), columns[0])
    others = [column for column in columns if column is not tasks]
    if len(others) != 1:
        found = ", ".join(name for name, _ in columns)
        raise UsageError(f"needs a column of tasks and one of costs, has {found}", where=str(file))
    unit = others[0][0].strip().lower()
    pairs = [pair for pair in zip(_strings(tasks[1]), _strings(others[0][1]), strict=True) if pair[1]]
    twice = [task for task, times in Counter(task for task, _ in pairs).items() if times > 1]
    if twice:
        raise UsageError(f"says more than once what these cost: {named(twice)}", where=str(file))
    return "" if unit in _UNNAMED else unit, dict[str, object](pairs)


def _grouped(file: Path) -> list[tuple[str, str]]:
    if file.suffix == ".json":
        document = _json(file)
        if isinstance(document, dict) and all(isinstance(value, list) for value in document.values()):
            return [(str(task), str(group)) for group, own in document.items() for task in own]
        if isinstance(document, dict) and all(isinstance(value, str) for value in document.values()):
            return [(str(task), group) for task, group in document.items()]
        raise UsageError('is neither {"GROUP": ["TASK"]} nor {"TASK": "GROUP"}', where=str(file))
    if file.suffix in (".csv", ".tsv", ".parquet"):
        columns = {name.lower(): cells for name, cells in read_columns(file)}
        if {"task", "group"} <= set(columns):
            return [
                (task, group)
                for task, group in zip(_strings(columns["task"]), _strings(columns["group"]), strict=True)
                if group
            ]
    lines = [line for line in _text(file).splitlines() if line.strip()]
    return [
        (task.strip(), f"group {at}") for at, line in enumerate(lines, 1) for task in line.split(",") if task.strip()
    ]


def _strings(cells: Sequence[object] | pa.ChunkedArray) -> list[str]:
    return ["" if cell is None else str(cell).strip() for cell in listed(cells)]


def _json(file: Path) -> object:
    try:
        return parsed(_text(file))
    except ValueError as error:
        raise UsageError(f"is not JSON ({error})", where=str(file)) from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read ({getattr(error, 'strerror', None) or error})", where=str(file)) from None


def _float(text: str) -> float | None:
    if "," in text and not re.fullmatch(rf"\s*{_NUMBER}\s*", text):
        return None
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _stem(unit: str) -> str:
    """A unit in the singular; 'h', 'hour' and 'hours' are one."""
    low = unit.strip().lower()
    return {
        "hr": "h",
        "hrs": "h",
        "$": "dollar",
        "usd": "dollar",
        "€": "euro",
        "eur": "euro",
        "m": "min",
        "mins": "min",
        "secs": "sec",
    }.get(low, low.removesuffix("s") if len(low) > 1 else low)
