"""What compilation takes: it is in no other figure."""

from __future__ import annotations

import dataclasses

from infra.bench.case import Case, Outcomes, Report, seconds
from infra.bench.sizes import Sizes
from infra.bench.task import Task

_PICKS = 80
_OBJECTIVES = ("facility_location", "feature_based")


def compilation(sizes: Sizes) -> Case:
    """The first and the second call of a process, with an empty and with a filled cache of compiled code."""
    empty = [_twice(sizes, objective) for objective in _OBJECTIVES]
    pairs = [(task, dataclasses.replace(task, cache="filled")) for task in empty]

    def report(outcomes: Outcomes) -> Report:
        rows = tuple(
            (
                f"{cold.objective}, n = {cold.n:,}",
                seconds(outcomes[cold].warm_up),
                seconds(outcomes[filled].warm_up),
                seconds(outcomes[filled].seconds),
            )
            for cold, filled in pairs
        )
        columns = ("smallest compiled size", "first call, no cache s", "first call, cache s", "second call s")
        return Report(columns, rows, notes=("first calls import numba too; every process below makes one beforehand",))

    tasks = tuple(task for pair in pairs for task in pair)
    return Case("compilation", "calls that compile, and calls that need not", tasks, report)


def _twice(sizes: Sizes, objective: str) -> Task:
    rows = sizes.warm_rows(objective)
    return Task(rows, min(_PICKS, rows), objective=objective, warm_rows=rows, cache="empty")
