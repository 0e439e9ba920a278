"""What a case is: tasks to measure, and a report that sets their figures beside each other and beside the targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from infra.bench.task import Outcome, Task

Outcomes = Mapping[Task, Outcome]


@dataclass(frozen=True)
class Target:
    """A figure that was promised.

    Attributes:
        what: is measured.
        limit: the promise.
        measured: None where the measurement failed.
        unit: of both, such as ` s`.
        at_least: whether the limit is the least; otherwise it is the most.
    """

    what: str
    limit: float
    measured: float | None
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the promise is kept."""
        if self.measured is None:
            return False
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass(frozen=True)
class Report:
    """A case's figures in words.

    Attributes:
        columns: heads; the first is what a row is about.
        rows: of cells.
        targets: what was promised about them.
        notes: what a reader must know.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    targets: tuple[Target, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """Measurements that belong together.

    Attributes:
        name: for the command line.
        shows: what, in one line.
        tasks: to measure, in this order.
        report: of their outcomes.
    """

    name: str
    shows: str
    tasks: tuple[Task, ...]
    report: Callable[[Outcomes], Report]


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """A quotient; None where a part was not measured."""
    return None if numerator is None or not denominator else numerator / denominator


def number(figure: float | None, digits: int = 1, unit: str = "") -> str:
    """A figure for a cell."""
    return "failed" if figure is None else f"{figure:,.{digits}f}{unit}"


def seconds(figure: float | None) -> str:
    """Seconds for a cell, to three digits or so."""
    return number(figure, 2 if figure is not None and figure < 10 else 1)


def mebibytes(peak: int | None) -> str:
    """Memory for a cell."""
    return number(ratio(peak, 2**20), 0)
