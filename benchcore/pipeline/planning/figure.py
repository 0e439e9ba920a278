"""A plan as a figure: coverage, expected error and tokens against the number of picks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.figures.drawing import GREY, drawing, encoded, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchcore.pipeline.planning.plan import Plan

_SUITE, _SCORE, _GAP = "#0072b2", "#0072b2", "#d55e00"  # of Okabe and Ito's palette, apart for every eye
_MOST_POINTS = 200
_LEAST = 10  # k; with fewer picks most benchmarks have none
_MIDDLE = (0.1, 0.9)
_POINTS = (0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100)


def drawn(plan: Plan, kind: str) -> bytes:
    """Draw a plan.

    Args:
        plan: to be drawn.
        kind: `svg` or `png`.

    Returns:
        The bytes of the file.

    Raises:
        UsageError: matplotlib is not installed.
    """
    with drawing():
        parts = [_tokens]
        if plan.curves is not None:
            parts.insert(0, _errors)
        if plan.coverage is not None:
            parts.insert(0, _coverage)
        figure, axes = panels(len(parts), 3, 3.9, 3.4)
        for part, panel in zip(parts, axes, strict=True):
            part(panel, plan)
            _finish(panel, plan)
        figure.suptitle(f"{plan.config.select.method}, {plan.prompts:,} prompts", size=8, color=GREY, x=0.01, ha="left")
    return encoded(figure, kind)


def _coverage(axes: Axes, plan: Plan) -> None:
    assert plan.coverage is not None  # nosec B101 # for the type checker: it is drawn where there is one
    ks = _drawn(plan)
    core = ks - plan.config.select.audit
    low, high = np.quantile(plan.coverage.benchmarks[:, core], _MIDDLE, axis=0)
    axes.fill_between(ks, low, high, color=_SUITE, alpha=0.15, lw=0, label="four in five benchmarks")
    axes.plot(ks, plan.coverage.benchmarks[:, core].min(axis=0), "--", color=GREY, lw=1.5, label="least of a benchmark")
    axes.plot(ks, plan.coverage.suite[core], color=_SUITE, lw=2, label="suite")
    axes.set(title="coverage", ylabel="mean similarity to the nearest pick", ylim=(0, 1))
    axes.legend(loc="lower right")


def _errors(axes: Axes, plan: Plan) -> None:
    from matplotlib.ticker import NullLocator

    assert plan.curves is not None  # nosec B101 # for the type checker: they are drawn where there are some
    ks = _drawn(plan)
    expected = [found for found in (plan.expected(int(k)) for k in ks) if found is not None]
    lines = (
        ("a difference of two models", _GAP, "--", [found.gap for found in expected]),
        ("a model's score", _SCORE, "-", [found.margin for found in expected]),
    )
    for label, colour, dash, spreads in lines:
        axes.plot(ks, [spread.mean for spread in spreads], dash, color=colour, lw=2, label=label)
        band = [spread.low for spread in spreads], [spread.high for spread in spreads]
        axes.fill_between(ks, *band, color=colour, alpha=0.15, lw=0)
    low_k, high_k = max(plan.curves.k.min(), ks[0]), min(plan.curves.k.max(), ks[-1])
    if low_k < high_k:
        axes.axvspan(float(low_k), float(high_k), color=GREY, alpha=0.08, lw=0, label="k that was measured")
    axes.set(title="error to expect (bands: the lab's suites)", ylabel="points, 95 %", yscale="log")
    low, high = axes.get_ylim()
    axes.set_yticks(ticks := [step for step in _POINTS if low <= step <= high], [f"{step:g}" for step in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.legend(loc="lower left")


def _tokens(axes: Axes, plan: Plan) -> None:
    ks = _drawn(plan)
    axes.plot(ks, plan.tokens[ks], color=_SUITE, lw=2, label="read and written")
    axes.plot(ks, plan.read[ks], "--", color=GREY, lw=1.5, label="read")
    axes.set(title="tokens of a model", ylabel="tokens", yscale="log" if plan.read[ks].min() > 0 else "linear")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper left")


def _first(plan: Plan) -> int:
    """The smallest k that is drawn."""
    return min(max(plan.k_min, _LEAST), plan.k_max)


def _drawn(plan: Plan) -> NDArray[np.int64]:
    """The k that are drawn: all of a few, as far apart as a logarithmic axis shows of many."""
    return np.unique(np.geomspace(_first(plan), plan.k_max, _MOST_POINTS).round().astype(np.int64))


def _finish(axes: Axes, plan: Plan) -> None:
    from matplotlib.ticker import NullLocator

    axes.set(xscale="log", xlabel="prompts picked (k)")
    ticks = [k for k in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000) if _first(plan) <= k <= plan.k_max]
    axes.set_xticks(ticks, [f"{k:,}" for k in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
