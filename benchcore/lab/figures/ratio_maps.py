"""Tables of ratios to the control as heat maps: blue is better than the control, red worse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchcore.lab.contestants import HEADLINE
from benchcore.lab.figures.drawing import GREY, drawing, shortened
from benchcore.lab.figures.lines import label_of, suites_of, widest
from benchcore.lab.rows import ALL, Findings, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Farther from 1 than this, colours grow no stronger.
_FARTHEST = 1.5
_CELL = (0.62, 0.25)
_MARGIN, _LETTER = 0.25, 0.078
_NOTE = "Blue is better than the control, red worse; bold: the 95 % interval excludes 1."

Cells = Mapping[tuple[str, str], Summary]


def methods_by_suite(found: Findings) -> Figure | None:
    """Draw mean ratios over budgets of every method on every suite, with the headline estimator, the best on top.

    Args:
        found: of a comparison.

    Returns:
        The figure; None where nothing was measured.
    """
    own = [summary for summary in found.summaries if summary.estimator == HEADLINE]
    columns = {suite: shortened(suite) for suite in suites_of(found)}
    if any(summary.suite == ALL for summary in own):
        columns[ALL] = "all suites"
    cells = {(summary.method, summary.suite): summary for summary in own}
    title = f"Error relative to the control, {HEADLINE} weights, mean over budgets"
    return _map(title, _labels(own, found), columns, cells)


def selection_by_estimator(found: Findings) -> Figure | None:
    """Draw mean ratios over budgets and suites of every method with every estimator, the best on top.

    Args:
        found: of a comparison.

    Returns:
        The figure; None where nothing was measured.
    """
    own = widest(found)
    estimators = sorted({summary.estimator for summary in own}, key=lambda name: (name != HEADLINE, "@" in name, name))
    cells = {(summary.method, summary.estimator): summary for summary in own}
    title = "Error relative to the control, by selection and estimator, mean over budgets and suites"
    return _map(title, _labels(own, found), {name: shortened(name) for name in estimators}, cells)


def _labels(own: Sequence[Summary], found: Findings) -> dict[str, str]:
    """Methods for people: the default is marked with every estimator, and what the headline one needs is told."""
    default = {summary.method for summary in found.summaries if summary.is_default}
    return {
        summary.method: label_of(replace(summary, is_default=summary.method in default), with_estimator=False)
        for summary in sorted(own, key=lambda summary: summary.estimator == HEADLINE)
    }


def _map(title: str, names: Mapping[str, str], columns: Mapping[str, str], cells: Cells) -> Figure | None:
    """Draw a heat map.

    Args:
        title: of the figure.
        names: labels of the methods.
        columns: labels of the columns.
        cells: by method and column.
    """
    if not names or not columns:
        return None
    methods = sorted(names, key=_order(columns, cells))
    with drawing():
        from matplotlib.figure import Figure

        left = _LETTER * max(map(len, names.values())) + _MARGIN
        top = 0.45 + 0.72 * _LETTER * max(map(len, columns.values()))
        right = max(_MARGIN, 0.72 * _LETTER * len(list(columns.values())[-1]))
        body = (_CELL[0] * len(columns), _CELL[1] * len(methods))
        size = (max(left + body[0] + right, 0.075 * max(len(title), len(_NOTE)) + 0.2), body[1] + top + 0.4)
        figure = Figure(size)
        axes = figure.add_axes((left / size[0], 0.4 / size[1], body[0] / size[0], body[1] / size[1]))
        for row, method in enumerate(methods):
            for column, name in enumerate(columns):
                _cell(axes, row, column, cells.get((method, name)))
        _finish(axes, [names[method] for method in methods], list(columns.values()))
        figure.text(0.1 / size[0], 1 - 0.08 / size[1], title, size=10, va="top")
        figure.text(0.1 / size[0], 0.1 / size[1], _NOTE, size=8, color=GREY)
    return figure


def _order(columns: Iterable[str], cells: Cells) -> Callable[[str], tuple[float, str]]:
    """Methods by their ratio over all suites or with the headline estimator; by the mean of what there is without."""
    decisive = next((name for name in (ALL, HEADLINE) if name in columns), None)

    def place(method: str) -> tuple[float, str]:
        chosen = [decisive] if decisive and (method, decisive) in cells else list(columns)
        ratios = [cells[method, name].ratio for name in chosen if (method, name) in cells]
        seen = [ratio for ratio in ratios if math.isfinite(ratio)]
        return (sum(seen) / len(seen) if seen else math.inf), method

    return place


def _cell(axes: Axes, row: int, column: int, summary: Summary | None) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    ratio = math.nan if summary is None else summary.ratio
    if math.isnan(ratio):
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor="#f2f2f2", edgecolor="white"))
        axes.text(column + 0.5, row + 0.5, "–", ha="center", va="center", color=GREY)
        return
    limit = math.log(_FARTHEST)
    strength = math.log(min(max(ratio, 1 / _FARTHEST), _FARTHEST)) / limit
    colour = colormaps["RdBu_r"](0.5 + 0.5 * strength)
    apart = summary is not None and (summary.ratio_high < 1 or summary.ratio_low > 1)
    axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white"))
    ink = "white" if _luminance(colour) < 0.4 else "black"
    text = f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
    weight = "bold" if apart else "normal"
    axes.text(column + 0.5, row + 0.5, text, ha="center", va="center_baseline", color=ink, weight=weight)


def _luminance(colour: Sequence[float]) -> float:
    red, green, blue = colour[:3]
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _finish(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.xaxis.tick_top()
    slanted = any(_LETTER * len(name) > _CELL[0] for name in columns)
    look: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks([place + 0.5 for place in range(len(columns))], columns, **look)
    axes.set_yticks([place + 0.5 for place in range(len(rows))], rows)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
