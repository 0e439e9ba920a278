"""How often two models change places, by how far apart they truly are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from benchcore.lab.figures.drawing import GREY, drawing, legend_below, panels, shortened
from benchcore.lab.figures.lines import Line, chosen_lines, rows_of, suites_of, usual_budget
from benchcore.lab.judging import GAPS
from benchcore.lab.rows import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How far the marks of all methods spread around a gap, so that they do not hide each other.
_SPREAD = 0.6


def rank_flips(found: Findings, methods: Sequence[str] = ()) -> Figure | None:
    """Draw the share of pairs of models in the wrong order by their true gap, at the budget nearest to 100.

    Args:
        found: of a comparison.
        methods: to draw; none: the best.

    Returns:
        The figure; None where nothing was measured.
    """
    lines = chosen_lines(found, methods, 4)
    suites = suites_of(found)
    if not lines or not suites:
        return None
    with drawing():
        figure, axes = panels(len(suites), 3, 3.9, 3.2)
        for suite, panel in zip(suites, axes, strict=True):
            k = usual_budget(sorted({row.k for row in found.rows if row.suite == suite}))
            for place, line in enumerate(lines):
                rows = [row for row in rows_of(found, suite, line) if row.k == k]
                agreement = rows[0].pair_agreement if rows else ()
                _marks(panel, agreement, line, _SPREAD * ((place + 0.5) / len(lines) - 0.5))
            _finish(panel, f"{shortened(suite)}, k = {k}")
        legend_below(figure, axes[0])
    return figure


def _marks(axes: Axes, agreement: Sequence[float | None], line: Line, shift: float) -> None:
    wrong = [math.nan if share is None else 100 * (1 - share) for share in agreement]
    places = [gap + shift for gap in range(len(wrong))]
    axes.plot(places, wrong, line.marker, color=line.colour, ms=6, label=line.label)
    axes.vlines(places, 0, wrong, color=line.colour, lw=1.2, alpha=0.5)


def _finish(axes: Axes, title: str) -> None:
    points = [f"{100 * gap:g}" for gap in GAPS]
    between = [f"{low} to {high}" for low, high in pairwise(points)]
    axes.set_title(title)
    axes.set_xticks(range(len(GAPS) + 1), [f"below {points[0]}", *between, f"above {points[-1]}"])
    axes.set_xlim(-0.5, len(GAPS) + 0.5)
    axes.set_ylim(0, 58)
    axes.axhline(50, color=GREY, lw=1, ls=":")
    axes.text(len(GAPS) + 0.45, 51, "a coin", ha="right", va="bottom", size=8, color=GREY)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("true gap between two models, points")
    axes.set_ylabel("pairs in the wrong order, %")
