"""The command: `make bench`, or `.venv/bin/python -m infra.bench --help`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from benchcore.machine import usable_cores
from infra.bench import peers
from infra.bench.case import Case, Report
from infra.bench.cases import all_cases
from infra.bench.children import run
from infra.bench.machine import describe
from infra.bench.sizes import Sizes
from infra.bench.table import as_json, console, show_case, show_machine, show_targets
from infra.bench.task import PEERS, Outcome, Task

_SMALL = 20


def main(arguments: list[str] | None = None) -> int:
    """Run cases; returns 1 if a measurement failed, and 0 also where a target was not met."""
    chosen = _parser().parse_args(arguments)
    cases = all_cases(Sizes(_SMALL if chosen.small else 1))
    if chosen.list:
        for case in cases.values():
            sys.stdout.write(f"{case.name:24} {case.shows}\n")
        return 0
    unknown = sorted(set(chosen.cases) - set(cases))
    if unknown:
        sys.stderr.write(f"bench: unknown cases: {', '.join(unknown)}; there are {', '.join(cases)}\n")
        return 2
    return bench([cases[name] for name in chosen.cases or cases], chosen.threads or usable_cores(), chosen.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure speed and memory of the core.")
    parser.add_argument("cases", nargs="*", help="which; default: all")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--threads", type=int, help="of all libraries; default: the cores that may be used")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was found")
    parser.add_argument("--small", action="store_true", help=f"sizes divided by {_SMALL}, to try the bench itself")
    return parser


def bench(cases: list[Case], threads: int, file: Path | None = None) -> int:
    """Measure and show; returns 1 if a measurement failed."""
    started, machine, to = time.monotonic(), describe(threads), console()
    if any(task.engine in PEERS for case in cases for task in case.tasks):
        _prepare_peers()
    show_machine(to, machine)
    outcomes, reports = _measure(cases, threads, to)
    machine["linear algebra"] = "; ".join(sorted({each for outcome in outcomes.values() for each in outcome.blas}))
    to.print(f"\nlinear algebra: {machine['linear algebra']}", markup=False)
    show_targets(to, reports)
    if file is not None:
        file.write_text(json.dumps(as_json(machine, reports, outcomes), indent=2) + "\n")
    failed = [task for task, outcome in outcomes.items() if outcome.error is not None]
    sys.stderr.write(f"bench: {len(outcomes)} runs in {time.monotonic() - started:.0f} s, {len(failed)} failed\n")
    return 1 if failed else 0


def _measure(cases: list[Case], threads: int, to: Console) -> tuple[dict[Task, Outcome], list[tuple[Case, Report]]]:
    """Run every task once, and show each case as soon as its tasks are done."""
    outcomes: dict[Task, Outcome] = {}
    reports = []
    number = len({task for case in cases for task in case.tasks})
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        for case in cases:
            for task in _new(case.tasks, outcomes):
                sys.stderr.write(f"bench: {len(outcomes) + 1} of {number}: {task}\n")
                outcomes[task] = run(task, threads, Path(scratch))
            reports.append((case, case.report(outcomes)))
            show_case(to, *reports[-1], outcomes)
    return outcomes, reports


def _new(tasks: Iterable[Task], outcomes: dict[Task, Outcome]) -> list[Task]:
    return [task for task in tasks if task not in outcomes]


def _prepare_peers() -> None:
    try:
        peers.prepare()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"bench: no other libraries to compare with: {error}\n")  # their runs fail, the others go on


if __name__ == "__main__":
    sys.exit(main())
