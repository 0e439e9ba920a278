"""Objectives that need no similarities of all pairs."""

from __future__ import annotations

from infra.bench.case import Case, Outcomes, Report, Target, mebibytes, number, seconds
from infra.bench.cases.facility_location import KINDS
from infra.bench.sizes import Sizes
from infra.bench.task import Task


def log_determinant(sizes: Sizes) -> Case:
    """On both kinds of data."""
    tasks = [_task(sizes, "log_determinant", 61_000, 200, kind) for kind in KINDS]
    return _case("log-determinant", "log det(I + K) of the cosine, 384 dimensions", tasks, 5.0)


def feature_based(sizes: Sizes) -> Case:
    """A million rows."""
    tasks = [_task(sizes, "feature_based", 1_000_000, 1_000, "clustered")]
    return _case("feature-based", "square roots of 10,000 features, 100 of them in a row", tasks, 60.0)


def _task(sizes: Sizes, objective: str, n: int, k: int, kind: str) -> Task:
    return Task(sizes.of(n), sizes.of(k), kind, objective=objective, warm_rows=sizes.warm_rows(objective))


def _case(name: str, shows: str, tasks: list[Task], limit: float) -> Case:
    def report(outcomes: Outcomes) -> Report:
        rows, targets = [], []
        for task in tasks:
            found = outcomes[task]
            rows.append((task.kind, seconds(found.seconds), mebibytes(found.peak), number(found.value)))
            targets.append(Target(f"{task.kind}: seconds", limit, found.seconds, " s"))
        return Report(("data", "run s", "peak MiB", "value"), tuple(rows), tuple(targets))

    return Case(name, f"{shows}, n = {tasks[0].n:,}, k = {tasks[0].k:,}", tuple(tasks), report)
