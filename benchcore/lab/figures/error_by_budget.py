"""What more prompts buy: error against the budget, a panel a suite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchcore.lab.contestants import CONTROL, HEADLINE
from benchcore.lab.figures.drawing import GREY, drawing, legend_below, panels, shortened
from benchcore.lab.figures.lines import Line, chosen_lines, rows_of, suites_of
from benchcore.lab.rows import Findings, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Steps of a logarithmic axis inside a power of ten, from the narrowest range of errors to the widest.
_STEPS = ((1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0,))
_TICKS = (3, 8)
# Methods stand beside each other at a budget, this far apart as a share of it: whiskers would hide each other.
_APART = 0.012
_NOTE = "Band and whiskers: 95 % interval of the ratio to the control, carried over to the error."


def error_by_budget(found: Findings, methods: Sequence[str] = ()) -> Figure | None:
    """Draw mean absolute errors in points, with 95 % intervals of the paired comparison with the control.

    An interval is that of the ratio to the control, carried over to the method's error: it tells how far the method
    may lie from the control, whose own line therefore has none. The first method beside the control has a band, the
    others whiskers: bands of all would hide each other.

    Args:
        found: of a comparison.
        methods: to draw; none: the best.

    Returns:
        The figure; None where nothing was measured.
    """
    lines = chosen_lines(found, methods)
    suites = suites_of(found)
    if not lines or not suites:
        return None
    with drawing():
        figure, axes = panels(len(suites), 3, 3.9, 3.4)
        for suite, panel in zip(suites, axes, strict=True):
            for place, line in enumerate(lines):
                _line(panel, rows_of(found, suite, line), line, _APART * (place - (len(lines) - 1) / 2))
            _finish(panel, suite, [row for row in found.rows if row.suite == suite])
        legend_below(figure, axes[0])
        figure.suptitle(_NOTE, size=8, color=GREY, x=0.01, ha="left")
    return figure


def _line(axes: Axes, rows: Sequence[Row], line: Line, shift: float) -> None:
    ks, errors = [row.k * (1 + shift) for row in rows], [row.mae for row in rows]
    axes.plot(ks, errors, line.dash, color=line.colour, marker=line.marker, ms=5, lw=1.5, label=line.label)
    lows, highs = [_at(row, row.ratio_low) for row in rows], [_at(row, row.ratio_high) for row in rows]
    if line.leads and len(rows) > 1:
        axes.fill_between(ks, lows, highs, color=line.colour, alpha=0.15, lw=0)
    elif line.pair != (CONTROL, HEADLINE):
        axes.vlines(ks, lows, highs, color=line.colour, lw=1, alpha=0.6)


def _at(row: Row, ratio: float) -> float:
    """The method's error if its ratio to the control were another."""
    return row.mae * ratio / row.ratio if row.ratio else math.nan


def _finish(axes: Axes, suite: str, rows: Sequence[Row]) -> None:
    from matplotlib.ticker import NullLocator

    errors = [row.mae for row in rows if math.isfinite(row.mae)]
    if errors and min(errors) > 0:  # where a ratio to the control is a distance; an error of 0 has no place there
        axes.set(xscale="log", yscale="log")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter("{x:g}")
        if steps := _steps(*axes.get_ylim()):
            axes.set_yticks(steps)
    budgets = sorted({row.k for row in rows})
    shown = budgets[:: 1 + (len(budgets) - 1) // _TICKS[1]]
    axes.set_xticks(shown, [str(k) for k in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_title(shortened(suite))
    axes.set_xlabel("prompts picked (k)")
    axes.set_ylabel("mean absolute error, points")


def _steps(low: float, high: float) -> list[float]:
    """Round figures between the ends of a logarithmic axis, neither too few to read it nor so many that they touch."""
    for within in _STEPS:
        steps = [step * 10.0**power for power in range(-4, 4) for step in within if low <= step * 10.0**power <= high]
        if len(steps) <= _TICKS[1]:
            break
    if len(steps) >= _TICKS[0]:
        return steps
    from matplotlib.ticker import MaxNLocator

    return [float(step) for step in MaxNLocator(4).tick_values(low, high) if low <= step <= high]
