"""The command: `make bench-scale`, or `.venv/bin/python -m infra.scale --help`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from benchcore.machine import usable_cores
from infra.bench.case import Report
from infra.bench.machine import describe
from infra.bench.places import ROOT
from infra.bench.table import console, in_words, show_machine, show_report
from infra.scale.cases import Case, all_cases
from infra.scale.runs import Runs

_SMALL = 20
_LOOKED_S, _IDLE = 3.0, 10.0  # seconds, and the percent of its cores that an idle machine uses


def main(arguments: list[str] | None = None) -> int:
    """Run cases; returns 1 if a measurement failed, and 0 also where a target was not met."""
    chosen = _parser().parse_args(arguments)
    cases = all_cases(chosen.root)
    if chosen.list:
        for case in cases.values():
            sys.stdout.write(f"{case.name:10} {case.shows}\n")
        return 0
    unknown = sorted(set(chosen.cases) - set(cases))
    if unknown:
        sys.stderr.write(
            f"bench: unknown cases: {', '.join(unknown)}; there are {', '.join(cases)} (real with --root)\n"
        )
        return 2
    used = psutil.cpu_percent(_LOOKED_S)
    if used > _IDLE and not (chosen.busy or chosen.small):
        sys.stderr.write(f"bench: the machine is busy ({used:.0f} % of its cores); --busy measures nevertheless\n")
        return 2
    runs = Runs(chosen.where, _SMALL if chosen.small else 1, usable_cores())
    return bench([cases[name] for name in chosen.cases or cases], runs, chosen.json)


def bench(cases: list[Case], runs: Runs, file: Path | None) -> int:
    """Measure and show; returns 1 if a measurement failed."""
    started, to, machine = time.monotonic(), console(), describe(usable_cores())
    reports: dict[str, Report] = {}
    if runs.part > 1:
        machine["sizes"] = f"divided by {runs.part}: the figures mean nothing"
    show_machine(to, machine)
    for case in cases:
        reports[case.name] = report = case.measure(runs)
        show_report(to, f"{case.name}: {case.shows}", report)
        if file is not None:  # after each: the next may take an hour
            found = {"machine": machine, "cases": _as_json(reports), "runs": _runs(runs)}
            file.write_text(json.dumps(found, indent=2) + "\n")
    failed = [name for name, run in runs.selections.items() if run.error is not None]
    sys.stderr.write(f"bench: {len(cases)} cases in {time.monotonic() - started:.0f} s, {len(failed)} runs failed\n")
    return 1 if failed else 0


def _as_json(reports: dict[str, Report]) -> dict[str, Any]:
    return {
        name: {**asdict(report), "targets": list(map(in_words, report.targets))} for name, report in reports.items()
    }


def _runs(runs: Runs) -> dict[str, Any]:
    return {name: asdict(run) for name, run in runs.selections.items()}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench-scale", description="Measure selection at scale.")
    parser.add_argument("cases", nargs="*", help="which; default: all")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--where", type=Path, default=ROOT / ".cache" / "scale", help="folder of the registries (3 GB)")
    parser.add_argument("--root", type=Path, help="an ingested and embedded registry, for the case 'real'")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was found")
    parser.add_argument("--small", action="store_true", help=f"sizes divided by {_SMALL}, to try the bench itself")
    parser.add_argument("--busy", action="store_true", help="measure although the machine is busy")
    return parser


if __name__ == "__main__":
    sys.exit(main())
