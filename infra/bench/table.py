"""Figures as tables for people, and as JSON for machines."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from infra.bench.case import Case, Outcomes, Report, Target

_WIDTH = 132  # where no terminal says another


def console() -> Console:
    """Writes to the standard output."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH, highlight=False, soft_wrap=False)


def show_machine(to: Console, machine: dict[str, str]) -> None:
    """What all figures depend on."""
    table = Table(show_header=False)
    for name, words in machine.items():
        table.add_row(name, words)
    to.print(table)


def show_case(to: Console, case: Case, report: Report, outcomes: Outcomes) -> None:
    """A case's figures, its targets, and what failed."""
    show_report(to, f"{case.name}: {case.shows}", report)
    for task in case.tasks:
        if outcomes[task].error is not None:
            to.print(f"  failed: {task}: {outcomes[task].error}", style="red", markup=False)


def show_report(to: Console, title: str, report: Report) -> None:
    """Figures and targets."""
    table = Table(*report.columns)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in report.rows:
        table.add_row(*row)
    to.print(f"\n{title}", style="bold", markup=False)
    to.print(table)
    for note in report.notes:
        to.print(f"  {note}", style="dim", markup=False)
    for target in report.targets:
        to.print(f"  {in_words(target)}", style="green" if target.met else "red", markup=False)


def in_words(target: Target) -> str:
    """A target beside what was measured."""
    if target.measured is None:
        return f"{target.what}: not measured"
    verdict = "met" if target.met else "not met"
    if target.unit == "yes/no":
        return f"{target.what}: {'yes' if target.met else 'no'} ({verdict})"
    bound = f"{'at least' if target.at_least else 'at most'} {target.limit:g}{target.unit}"
    return f"{target.what}: {target.measured:.3g}{target.unit}, target {bound} ({verdict})"


def show_targets(to: Console, reports: list[tuple[Case, Report]]) -> None:
    """All targets at a glance."""
    targets = [(case.name, target) for case, report in reports for target in report.targets]
    missed = [(name, target) for name, target in targets if not target.met]
    to.print()
    to.print(f"{len(targets) - len(missed)} of {len(targets)} targets met", markup=False)
    for name, target in missed:
        to.print(f"  {name}: {in_words(target)}", style="red", markup=False)


def as_json(machine: dict[str, str], cases: list[tuple[Case, Report]], outcomes: Outcomes) -> dict[str, Any]:
    """All that was found."""
    return {
        "machine": machine,
        "cases": {
            case.name: {
                "targets": [{**asdict(target), "met": target.met} for target in report.targets],
                "runs": [{"task": asdict(task), "outcome": asdict(outcomes[task])} for task in case.tasks],
            }
            for case, report in cases
        },
    }
