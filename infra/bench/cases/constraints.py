"""What constraints cost beside the plain run."""

from __future__ import annotations

import dataclasses

from infra.bench.case import Case, Outcomes, Report, Target, mebibytes, number, ratio, seconds
from infra.bench.cases.facility_location import run_of
from infra.bench.sizes import Sizes

_LIMITS = {"rounds": 1.2, "quotas": 1.2, "knapsack": 2.2}  # a knapsack is two greedy runs


def constraints(sizes: Sizes) -> Case:
    """Balanced rounds and quotas over 40 groups, and a budget."""
    plain = run_of(sizes, 61_000, 610)
    others = {name: dataclasses.replace(plain, constraint=name, product=False) for name in _LIMITS}

    def report(outcomes: Outcomes) -> Report:
        rows, targets = [], []
        for task in (plain, *others.values()):
            found = outcomes[task]
            times = ratio(found.seconds, outcomes[plain].seconds)
            cells = (seconds(found.seconds), number(times, 2), mebibytes(found.peak), number(found.picks, 0))
            rows.append((task.constraint, *cells, number(found.value)))
            if task.constraint in _LIMITS:
                what = f"{task.constraint} against the plain run"
                targets.append(Target(what, _LIMITS[task.constraint], times, " x"))
        notes = (
            "40 groups of whole topics, the largest 40 times the smallest; quotas from half to 1.5 times the share",
            "prices are log-normal; the budget is such that about k are picked",
        )
        columns = ("constraint", "run s", "times plain", "peak MiB", "picks", "value")
        return Report(columns, tuple(rows), tuple(targets), notes)

    shows = f"exact facility location, clustered data, n = {plain.n:,}, k = {plain.k:,}"
    return Case("constraints", shows, (plain, *others.values()), report)
