"""Predicted against true scores: a model a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.contestants import CONTROL, HEADLINE
from benchcore.lab.figures.drawing import GREY, drawing, panels, shortened
from benchcore.lab.figures.lines import Line, chosen_lines, suites_of, usual_budget
from benchcore.lab.results import PLAIN
from benchcore.lab.rows import Findings, ModelScores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is drawn in one panel; scores in points.

    Attributes:
        title: of the panel.
        truth: (models,).
        estimate: (models,) means of many.
        rmse: (models,) of one estimate.
        colour: of the points.
        note: before the figure in the corner.
    """

    title: str
    truth: Values
    estimate: Values
    rmse: Values
    colour: str
    note: str


def predicted_scores(found: Findings, method: str | None = None) -> Figure | None:
    """Draw estimated against true scores of a method, the control and plain random at the budget nearest to 100.

    Args:
        found: of a comparison.
        method: with the headline estimator; None: the default, or without one the best.

    Returns:
        The figure, a row a suite; None where no model's score was kept.
    """
    lines = _featured(chosen_lines(found, [method] if method else ()))
    drawn = [
        _prediction(line, scores)
        for suite in suites_of(found)
        for line in lines
        for scores in _at_usual_budget([one for one in found.model_scores if one.suite == suite], line)
    ]
    return _figure(drawn, len(lines)) if drawn else None


def _featured(lines: list[Line]) -> list[Line]:
    """The first method that is neither the control nor plain random, and those two."""
    usual = [line for line in lines if line.pair == (CONTROL, HEADLINE) or line.pair in PLAIN]
    return [*(line for line in lines if line.leads), *usual]


def _at_usual_budget(own: list[ModelScores], line: Line) -> list[ModelScores]:
    if not own:
        return []
    k = usual_budget(sorted({one.k for one in own}))
    return [one for one in own if (one.method, one.estimator) == line.pair and one.k == k]


def _prediction(line: Line, scores: ModelScores) -> Prediction:
    title = f"{shortened(scores.suite)}\n{shortened(line.label, 32)}"
    return Prediction(title, scores.truth, scores.estimate, scores.rmse, line.colour, f"k = {scores.k}, ")


def _figure(predictions: list[Prediction], abreast: int) -> Figure:
    with drawing():
        figure, axes = panels(len(predictions), abreast, 3.1, 3.3)
        for prediction, panel in zip(predictions, axes, strict=True):
            _panel(panel, prediction)
        note = "Points: means over sub-pools and draws. Bars: root mean squared error of a single estimate."
        figure.supxlabel(note, size=8, color=GREY, x=0.01, ha="left")
    return figure


def _panel(axes: Axes, prediction: Prediction) -> None:
    from matplotlib.ticker import MaxNLocator

    seen = np.isfinite(prediction.truth) & np.isfinite(prediction.estimate)
    truth, estimate, bar = prediction.truth[seen], prediction.estimate[seen], prediction.rmse[seen]
    many, gap = len(truth) > 60, np.full(len(truth), np.nan)
    across, along = np.stack([truth, truth, gap], axis=1), np.stack([estimate - bar, estimate + bar, gap], axis=1)
    axes.plot(across.ravel(), along.ravel(), color=prediction.colour, lw=0.8, alpha=0.25 if many else 0.5)
    axes.scatter(truth, estimate, 8 if many else 18, color=prediction.colour, linewidths=0, alpha=0.8, zorder=3)
    ends = _ends(truth, estimate)
    axes.plot(ends, ends, color=GREY, lw=1, zorder=1)
    ticks = [tick for tick in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(*ends) if ends[0] <= tick <= ends[1]]
    axes.set(xticks=ticks, yticks=ticks, xlim=ends, ylim=ends, aspect="equal")
    axes.set(xlabel="true score, points", ylabel="estimated score, points")
    axes.set_title(prediction.title)
    figure = f"RMSE {np.sqrt(np.mean(bar**2)):.1f}" if len(bar) else "no scores"
    corner: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "bottom", "size": 8, "color": GREY}
    axes.text(0.97, 0.03, f"{prediction.note}{figure}", **corner)


def _ends(truth: Values, estimate: Values) -> tuple[float, float]:
    """Of both axes, so that no point touches them."""
    both = np.concatenate([truth, estimate])
    if both.size == 0:
        return 0.0, 100.0
    room = max(2.0, 0.08 * float(np.ptp(both)))
    return float(both.min()) - room, float(both.max()) + room
