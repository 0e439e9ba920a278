"""What `make bench-scale` shows; each case runs what it needs and sets the figures beside what was promised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.bench.case import Report, Target, number, ratio, seconds
from infra.scale.alone import Asked
from infra.scale.runs import Run, Runs

MILLION, PICKS = 1_000_000, 1_000
PRODUCTS, GIBIBYTES = 40.0, 8.0  # what a selection from a million may take
OF_EXACT = 0.995  # of the value of the greedy of the whole pool

_QUALITY, _CUTS = (100_000, 100), (8, 32, 128)
_REAL_PICKS, _REAL_CUTS = 140, (8, 32, 64)
_GROWTH = (125_000, 250_000, 500_000, MILLION)
_WORKERS = (1, 2, 4)
Found = Mapping[str, Any]  # what `infra.scale.alone` has answered

_REST = "before and after"  # the prompts are read, Ray starts, tables are written
_BUSY = 0.05  # of the cores' time: more than that for others, and a figure is none


@dataclass(frozen=True)
class Case:
    """A name for the command line, what is shown in one line, and how to come by it."""

    name: str
    shows: str
    measure: Callable[[Runs], Report]


def million(runs: Runs, method: str = "facility_location") -> Report:
    """The whole command on a million prompts, beside one product of 100,000 of their rows."""
    conf = runs.registry(runs.of(MILLION), features=True)
    unit = runs.unit(conf)
    found = runs.select(conf, k=runs.of(PICKS), method=method)
    targets = (
        Target("products that it takes", PRODUCTS, ratio(found.seconds, unit)),
        Target("memory of all processes", GIBIBYTES, ratio(found.peak, 2**30), " GiB"),
    )
    notes = (f"one product: {seconds(unit)} s", *_notes(found))
    return Report(("round", "seconds", "planned", "products"), by_round(found, unit), targets, notes)


def default(runs: Runs) -> Report:
    """The same with the default method."""
    return million(runs, "nested_swaps")


def quality(runs: Runs) -> Report:
    """What shards and merges cost, beside the greedy of all rows at once."""
    n, k = _QUALITY
    return compared(runs, runs.registry(runs.of(n)), runs.of(k), _CUTS)


def real(runs: Runs, root: Path) -> Report:
    """The same on a registry of real prompts, and as it is configured without more."""
    conf = runs.copied(root)
    return compared(runs, conf, runs.of(_REAL_PICKS), _REAL_CUTS, as_is=True)


def growth(runs: Runs) -> Report:
    """Time and memory beside n and n^2 / m, for m shards."""
    found: list[tuple[int, Run, float | None]] = []
    for n in map(runs.of, _GROWTH):
        conf = runs.registry(n, features=n == runs.of(MILLION))
        unit = runs.unit(conf)
        found.append((n, runs.select(conf, k=runs.of(PICKS), method="facility_location"), unit))
    return Report(*growth_rows(found), notes=tuple(note for _, run, _ in found for note in _notes(run)))


def workers(runs: Runs) -> Report:
    """The same picks by any number of workers."""
    n, k = _QUALITY
    conf = runs.registry(runs.of(n))
    found = {each: runs.select(conf, k=runs.of(k), shard_size=runs.of(n) // 20, workers=each) for each in _WORKERS}
    same = float(all(run.error is None for run in found.values()) and len({run.ids for run in found.values()}) == 1)
    rows = tuple(
        (f"{each}", seconds(run.seconds), number(ratio(run.peak, 2**30), 2), run.digest) for each, run in found.items()
    )
    return Report(
        ("workers", "seconds", "GiB", "picks"),
        rows,
        (Target("all the same", 1.0, same, "yes/no", at_least=True),),
        tuple(note for run in found.values() for note in _notes(run)),
    )


def compared(runs: Runs, conf: Path, k: int, cuts: tuple[int, ...], *, as_is: bool = False) -> Report:
    """Merges of several kinds over several numbers of shards, all valued on all rows."""
    conf = _with_k(conf, k)
    exact = runs.alone(Asked(str(conf), exact=True, cuts=cuts).to_json())
    made = {("as configured", "global"): runs.select(conf)} if as_is else {}
    for shards, settings in exact.get("cuts", {}).items():
        size = settings["shard_size"]
        made[shards, "global"] = runs.select(conf, shard_size=size)
        made[shards, "tree"] = runs.select(conf, shard_size=size, merge_gb=settings["merge_gb"])
    coresets = {" ".join(name): list(run.ids) for name, run in made.items() if run.ids}
    judged = runs.alone(Asked(str(conf), cuts=cuts, coresets=coresets).to_json())
    return Report(*compared_rows(exact, judged, made), notes=tuple(n for run in made.values() for n in _notes(run)))


def compared_rows(
    exact: Found, judged: Found, made: dict[tuple[str, str], Run]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[Target, ...]]:
    """Columns, rows and targets of a comparison.

    Args:
        exact: value and seconds of the greedy of all rows.
        judged: values of the coresets, and without merges or with one of the candidates only.
        made: runs by shards and kind of merge.
    """
    best = exact.get("exact", {}).get("value")
    rows = [("none", "the greedy of all rows", *_worth(best, best), seconds(exact.get("exact", {}).get("seconds")))]
    targets = []
    for (shards, merge), run in made.items():
        value = judged.get("values", {}).get(f"{shards} {merge}")
        rows.append((shards, _IN_WORDS[merge], *_worth(value, best), seconds(run.seconds)))
        targets.append(Target(f"{shards} shards, {_IN_WORDS[merge]}", OF_EXACT, ratio(value, best), at_least=True))
    for shards, values in judged.get("cuts", {}).items():
        rows += [(shards, _IN_WORDS[merge], *_worth(value, best), "") for merge, value in values.items()]
    order = {shards: place for place, shards in enumerate(dict.fromkeys(row[0] for row in rows))}
    columns = ("shards", "merge", "value", "of the greedy's", "seconds")
    return columns, tuple(sorted(rows, key=lambda row: order[row[0]])), tuple(targets)


_IN_WORDS = {
    "global": "one, of all rows",
    "tree": "a tree, of all rows",
    "candidates": "one, of the candidates only",
    "none": "none: the best shard",
}


def growth_rows(found: list[tuple[int, Run, float | None]]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Columns and rows: each run beside the first, with how n and n^2 / m have grown meanwhile."""
    steps = list(dict.fromkeys(step for _, run, _ in found for step in run.timings))
    columns = ("n", "shards", *steps, "all s", "products", "GiB", "time x", "n x", "n^2/m x")
    first_n, first, _ = found[0]
    rows = []
    for n, run, unit in found:
        grown = ratio(n * n * (_shards(first) or 0), (_shards(run) or 0) * first_n * first_n)
        rows.append(
            (
                f"{n:,}",
                f"{_shards(run) or 'failed'}",
                *(seconds(run.timings[step]) if step in run.timings else "" for step in steps),
                seconds(run.seconds),
                number(ratio(run.seconds, unit), 1),
                number(ratio(run.peak, 2**30), 2),
                number(ratio(run.seconds, first.seconds), 2),
                number(n / first_n, 2),
                number(grown, 2),
            )
        )
    return columns, tuple(rows)


def by_round(run: Run, unit: float | None) -> tuple[tuple[str, str, str, str], ...]:
    """A row for each round that the manifest times, one for what is left, and the whole, beside what was planned."""
    if run.seconds is None:
        return (("failed", run.error or "", "", ""),)
    planned: dict[str, float] = defaultdict(float)
    for each in run.plan.get("rounds", ()):
        planned[each["step"] if each["step"] in run.timings else _REST] += each["seconds"]
    rest = run.seconds - sum(run.timings.values())
    taken = {**run.timings, _REST: rest, "all": run.seconds}
    planned["all"] = sum(planned.values())
    return tuple(
        (step, seconds(each), seconds(planned[step]), number(ratio(each, unit), 2)) for step, each in taken.items()
    )


def _notes(run: Run) -> tuple[str, ...]:
    if run.error is not None:
        return (f"failed: {run.error}",)
    peak = f"{(run.peak or 0) / 2**30:.2f} GiB at most, after {run.peak_at:.0f} s, {run.processes} processes"
    bound = ", ".join(f"{name} {figure}" for name, figure in run.certificate.items())
    told = [f"value {run.value:.6f}{'; ' + bound if bound else ''}; {peak}"]
    if run.others > _BUSY:
        told.append(f"THE MACHINE WAS BUSY: other processes took {run.others:.0%} of its cores; measure again")
    return tuple(told)


def _worth(value: float | None, best: float | None) -> tuple[str, str]:
    return number(value, 6), number(ratio(value, best), 4)


def _shards(run: Run) -> int | None:
    found: int | None = run.plan.get("shards", {}).get("number")
    return found


def _with_k(conf: Path, k: int) -> Path:
    """The configuration beside it that picks k: the bench's own process reads no settings but the file's."""
    other = conf.with_name(f"select-{k}.yaml")
    other.write_text(conf.read_text().split("select:")[0] + f"select: {{k: {k}, method: facility_location}}\n")
    return other


def all_cases(root: Path | None) -> dict[str, Case]:
    """All cases by name, in the order in which they run.

    Args:
        root: of a registry of real prompts; without one its case is left out.
    """
    cases = [
        Case("million", f"facility_location, n = {MILLION:,}, k = {PICKS:,}, macro mass", million),
        Case("default", f"nested_swaps, n = {MILLION:,}, k = {PICKS:,}, macro mass", default),
        Case("quality", f"values of picks over shards, n = {_QUALITY[0]:,}, k = {_QUALITY[1]}", quality),
        Case("growth", f"time and memory as n grows, k = {PICKS:,}", growth),
        Case("workers", f"any number of workers, n = {_QUALITY[0]:,}, k = {_QUALITY[1]}", workers),
    ]
    if root is not None:
        cases.append(Case("real", f"values of picks over shards, k = {_REAL_PICKS}", lambda runs: real(runs, root)))
    return {case.name: case for case in cases}
