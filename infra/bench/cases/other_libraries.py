"""Other libraries beside ours, on the same data and judged by the same clipped cosine."""

from __future__ import annotations

from infra.bench.case import Case, Outcomes, Report, Target, mebibytes, number, ratio, seconds
from infra.bench.cases.facility_location import KINDS, run_of
from infra.bench.sizes import Sizes
from infra.bench.task import Outcome, Task

Row = tuple[Task, tuple[Task, ...]]  # ours, and theirs on the same data

_APRICOT_FASTER, _APRICOT_MEMORY = 1.5, 0.1
_SUBMODLIB_FASTER, _SUBMODLIB_N = 15.0, 10_000
_SHORTFALL = 1e-4
_COLUMNS = ("data", "by", "run s", "times ours", "peak MiB", "times ours", "picks", "value", "ours / theirs")


def apricot(sizes: Sizes) -> Case:
    """At 20,000 rows, with its own cosine and with ours as a matrix."""
    rows = [_row_of(sizes, "apricot", 20_000, kind, ("cosine", "matrix")) for kind in KINDS]

    def report(outcomes: Outcomes) -> Report:
        targets = []
        for ours, theirs in rows:
            for task in theirs:
                faster, memory = _compared(outcomes[ours], outcomes[task])
                what = f"{task.kind}, against its {task.way}"
                targets.append(Target(f"{what}: times faster", _APRICOT_FASTER, faster, at_least=True))
                targets.append(Target(f"{what}: share of its memory", _APRICOT_MEMORY, ratio(1, memory)))
        notes = (
            "cosine: as its users call it; its similarity is then 1 - (1 - x.y)^2, so that its value may be any",
            "matrix: max(0, x.y) computed by NumPy, in the time, and handed over: the same objective as ours",
        )
        return Report(_COLUMNS, _table(rows, outcomes), tuple(targets), notes)

    return Case("apricot", "apricot-select, facility location", _tasks(rows), report)


def submodlib(sizes: Sizes) -> Case:
    """At 5,000 and 10,000 rows, with the similarities it computes and, far sooner, with the same from NumPy."""
    ways = {"clustered": ("cosine", "matrix"), "random": ("matrix",)}
    rows = [_row_of(sizes, "submodlib", n, kind, ways[kind]) for n in (5_000, _SUBMODLIB_N) for kind in KINDS]

    def report(outcomes: Outcomes) -> Report:
        targets = []
        for ours, theirs in rows:
            what = f"{ours.kind}, n = {ours.n:,}"
            if ours.n == sizes.of(_SUBMODLIB_N) and theirs[0].way == "cosine":
                faster, _ = _compared(outcomes[ours], outcomes[theirs[0]])
                targets.append(Target(f"{what}: times faster", _SUBMODLIB_FASTER, faster, at_least=True))
            best = max(outcomes[task].value or 0.0 for task in theirs)
            relative = ratio(outcomes[ours].value, best)
            shortfall = None if relative is None else 1 - relative
            targets.append(Target(f"{what}: part of its value that ours lacks", _SHORTFALL, shortfall))
        notes = (
            "cosine: as its users call it, with its own similarities; its lazy greedy, the faster of its exact ones",
            "matrix: max(0, x.y) computed by NumPy, in the time, and handed over; the target is about cosine",
        )
        return Report(_COLUMNS, _table(rows, outcomes), tuple(targets), notes)

    return Case("submodlib", "submodlib-py, facility location", _tasks(rows), report)


def _row_of(sizes: Sizes, engine: str, n: int, kind: str, ways: tuple[str, ...]) -> Row:
    theirs = tuple(Task(sizes.of(n), sizes.of(n // 100), kind, engine, way=way) for way in ways)
    return run_of(sizes, n, n // 100, kind), theirs


def _tasks(rows: list[Row]) -> tuple[Task, ...]:
    return tuple(task for ours, theirs in rows for task in (ours, *theirs))


def _compared(ours: Outcome, theirs: Outcome) -> tuple[float | None, float | None]:
    """Their seconds and their memory, in units of ours."""
    return ratio(theirs.seconds, ours.seconds), ratio(theirs.peak, ours.peak)


def _table(rows: list[Row], outcomes: Outcomes) -> tuple[tuple[str, ...], ...]:
    return tuple(_row(outcomes[ours], outcomes[task], task) for ours, theirs in rows for task in (ours, *theirs))


def _row(ours: Outcome, found: Outcome, task: Task) -> tuple[str, ...]:
    slower, larger = _compared(ours, found)
    return (
        f"{task.kind}, n = {task.n:,}",
        " ".join(found.versions) + f" {task.way}" if task.way else "benchcore",
        seconds(found.seconds),
        number(slower, 2),
        mebibytes(found.peak),
        number(larger, 2),
        number(found.picks, 0),
        number(found.value),
        number(ratio(ours.value, found.value), 6),
    )
