"""Which methods a figure has room for, and how each looks in all figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchcore.lab.contestants import CONTROL, HEADLINE
from benchcore.lab.figures.drawing import GREY, shortened
from benchcore.lab.results import PLAIN
from benchcore.lab.rows import ALL, Findings, Row, Summary

Pair = tuple[str, str]

# Drawn in any case: that it is the best is what the lab was built to test.
_CLAIMED = "facility_location"

# Okabe and Ito's colours, which people who confuse red and green tell apart; markers differ as well.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F3C8D")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
MOST = len(_COLOURS)
_USUAL_BUDGET = 100


@dataclass(frozen=True)
class Line:
    """A method with an estimator, as it is drawn.

    Attributes:
        pair: their names.
        label: for people.
        colour: of marks and line.
        marker: of points.
        dash: style of the line.
        leads: whether it is the first beside the control and plain random: the default, or without one the best.
    """

    pair: Pair
    label: str
    colour: str
    marker: str
    dash: str = "-"
    leads: bool = False


def chosen_lines(found: Findings, named: Sequence[str] = (), most: int = 6) -> list[Line]:
    """The control, plain random and the default, and after them methods by name, or the best.

    Args:
        found: of a comparison.
        named: methods to draw with the headline estimator; none: those with the lowest mean ratios.
        most: how many beside the control and plain random, `MOST` at most.
    """
    ranked = sorted(_finite(widest(found)), key=lambda summary: (summary.ratio, summary.method))
    known = {(summary.method, summary.estimator): summary for summary in ranked}
    wanted: list[Pair] = [pair for pair, summary in known.items() if summary.is_default]
    best = [method for method, estimator in known if estimator == HEADLINE]
    wanted += [(method, HEADLINE) for method in (named or [*best[:1], _CLAIMED, *best]) if (method, HEADLINE) in known]
    plain = next((pair for pair in PLAIN if pair in known), None)
    fixed = {(CONTROL, HEADLINE): ("black", ".", "-"), plain: (GREY, "x", "--")}
    lines = [
        Line(pair, label_of(known[pair]), *look) for pair, look in fixed.items() if pair is not None and pair in known
    ]
    others = [pair for pair in dict.fromkeys(wanted) if pair not in fixed][: min(most, MOST)]
    return lines + [
        Line(pair, label_of(known[pair]), _COLOURS[place], _MARKERS[place], leads=place == 0)
        for place, pair in enumerate(others)
    ]


def widest(found: Findings) -> list[Summary]:
    """Summaries over all suites; of the only suite where there is one."""
    return [summary for summary in found.summaries if summary.suite == ALL] or list(found.summaries)


def label_of(summary: Summary, *, with_estimator: bool = True) -> str:
    """A method as it is named in a figure, with what a reader must know of it."""
    if (summary.method, summary.estimator) == (CONTROL, HEADLINE):
        return f"{CONTROL} (control)"
    name = shortened(summary.method)
    notes = [summary.estimator] if with_estimator and summary.estimator != HEADLINE else []
    notes += ["default"] if summary.is_default else []
    notes += [] if summary.score_free else ["scores"]
    return f"{name} ({', '.join(notes)})" if notes else name


def suites_of(found: Findings) -> list[str]:
    """Suites that were measured, in order."""
    return list(dict.fromkeys(row.suite for row in found.rows))


def rows_of(found: Findings, suite: str, line: Line) -> list[Row]:
    """Rows of one line on one suite, by budget."""
    own = [row for row in found.rows if row.suite == suite and (row.method, row.estimator) == line.pair]
    return sorted(own, key=lambda row: row.k)


def usual_budget(budgets: Sequence[int]) -> int:
    """The one budget to show where there is room for one: that nearest to 100."""
    return min(budgets, key=lambda k: (abs(k - _USUAL_BUDGET), k))


def _finite(summaries: Sequence[Summary]) -> list[Summary]:
    return [summary for summary in summaries if math.isfinite(summary.ratio)]
