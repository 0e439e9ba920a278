"""What more tasks buy: error against the number of picks, a panel for each leaderboard and kind of split."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchcore.errors import UsageError
from benchcore.leaderboard.compare import CONTROL, CONTROL_ESTIMATOR, Row, standings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pair = tuple[str, str]

_OTHERS = 5  # methods that are drawn beside the default and random picks, each with its best estimator
_COLOURS = ("#0072b2", "#595959", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_MARKS = "os^vDPX"
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "font.size": 9.0,
    "grid.color": "#e3e3e3",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "benchcore",
    "text.parse_math": False,
}
_NOTE = (
    "Bands: where 90 % of the errors of single splits and draws lie; with the strongest held out, who are always the "
    "same, of bootstrap samples of them."
)


def error_by_tasks(rows: Sequence[Row]) -> Figure | None:
    """Draw mean absolute errors of the predicted mean, in points, against the number of picks.

    The default and random picks with ridge have bands; the best other methods, each with its best estimator, have none.

    Args:
        rows: of a comparison.

    Returns:
        The figure; None where there are no rows.

    Raises:
        UsageError: matplotlib is not installed.
    """
    cells = list(dict.fromkeys((row.matrix, row.split) for row in rows))
    if not cells:
        return None
    pairs = _drawn(rows)
    kinds = list(dict.fromkeys(split for _, split in cells))
    matrices = list(dict.fromkeys(matrix for matrix, _ in cells))
    with _drawing():
        from matplotlib.figure import Figure

        figure = Figure((max(3.6 * len(kinds), 5.0), 3.1 * len(matrices) + 1.0), layout="constrained")
        panels = figure.subplots(len(matrices), len(kinds), squeeze=False)
        for matrix, line in zip(matrices, panels, strict=True):
            for split, panel in zip(kinds, line, strict=True):
                _panel(panel, [row for row in rows if (row.matrix, row.split) == (matrix, split)], pairs)
                panel.set_title(f"{matrix}, {split}")
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=2 if len(kinds) < 3 else 3)
        figure.suptitle(_NOTE, size=8, color=_COLOURS[1], x=0.01, ha="left")
    return figure


def encoded(figure: Figure, kind: str = "svg") -> bytes:
    """The bytes of a file (`svg` or `png`), without date or version: the same rows give the same file."""
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    stream = io.BytesIO()
    with _drawing():
        figure.savefig(stream, format=kind, dpi=144, metadata=metadata)
    return stream.getvalue()


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    import importlib.util

    return importlib.util.find_spec("matplotlib") is not None


def _drawn(rows: Sequence[Row]) -> list[Pair]:
    """The default, random picks with ridge, and the best pairs of other methods."""
    default = [(row.method, row.estimator) for row in rows if row.is_default][:1]
    found = [*default, (CONTROL, CONTROL_ESTIMATOR)]
    taken = {method for method, _ in found}
    for standing in standings(rows):
        if standing.method not in taken and len(taken) < 2 + _OTHERS:
            taken.add(standing.method)
            found.append((standing.method, standing.estimator))
    return found


def _panel(axes: Axes, rows: Sequence[Row], pairs: Sequence[Pair]) -> None:
    from matplotlib.ticker import MaxNLocator

    for place, (method, estimator) in enumerate(pairs):
        own = sorted((row for row in rows if (row.method, row.estimator) == (method, estimator)), key=lambda row: row.k)
        ks, colour = [row.k for row in own], _COLOURS[place % len(_COLOURS)]
        default = any(row.is_default for row in own)
        label = f"{method}, {estimator}{' (default)' if default else ''}"
        mark = _MARKS[place % len(_MARKS)]
        axes.plot(
            ks, [row.mae for row in own], color=colour, marker=mark, ms=4, lw=2.0 if default else 1.2, label=label
        )
        if default or (method, estimator) == (CONTROL, CONTROL_ESTIMATOR):
            lows, highs = [row.mae_low for row in own], [row.mae_high for row in own]
            axes.fill_between(ks, lows, highs, color=colour, alpha=0.15, lw=0)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.tick_params(axis="y", which="minor", labelsize=7)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlabel("tasks picked (k)")
    axes.set_ylabel("mean absolute error, points")


@contextmanager
def _drawing() -> Iterator[None]:
    """Draw with our settings alone, and put back the user's afterwards."""
    try:
        import matplotlib
    except ImportError:
        mend = "Install it with: pip install 'benchcore[plots]'."
        raise UsageError("matplotlib is not installed", mend=mend) from None
    defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    with matplotlib.rc_context({**defaults, **_STYLE}):
        yield
