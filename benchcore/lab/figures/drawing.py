"""How figures look, and how they become bytes: the same findings give the same file."""

from __future__ import annotations

import importlib.util
import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchcore.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What would differ from day to day, and from one version of matplotlib to the next.
_METADATA: Mapping[str, dict[str, Any]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
_DENSITY = 144  # dots an inch
GREY = "#595959"

# Text stays text in SVG: it can be searched, copied and read aloud. Names are no formulas, whatever they contain.
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "figure.titlesize": 11.0,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
    "font.size": 9.0,
    "grid.color": "#e3e3e3",
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "benchcore",
    "text.parse_math": False,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
}
_LONGEST = 28
_INSTALL = "Install it with: pip install 'benchcore[plots]'."


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


@contextmanager
def drawing() -> Iterator[None]:
    """Draw and write in here: settings are matplotlib's own and ours, not the user's, and are put back afterwards.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise UsageError("matplotlib is not installed", mend=_INSTALL) from None
    defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    with matplotlib.rc_context({**defaults, **_STYLE}):
        yield


def encoded(figure: Figure, kind: str = "svg") -> bytes:
    """The bytes of a file, without date or version.

    Args:
        figure: as drawn.
        kind: `svg` or `png`.
    """
    stream = io.BytesIO()
    with drawing(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # names in scripts that matplotlib's font lacks
        figure.savefig(stream, format=kind, dpi=_DENSITY, metadata=_METADATA[kind])
    return stream.getvalue()


def panels(count: int, most: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of equal panels, at most so many abreast.

    Args:
        count: panels.
        most: in a row.
        width: of a panel, inches.
        height: of a panel, inches.
    """
    from matplotlib.figure import Figure

    columns = min(count, most)
    rows = -(-count // columns)
    figure = Figure((max(width * columns, 5.0), height * rows + 0.8), layout="constrained")
    return figure, [figure.add_subplot(rows, columns, place + 1) for place in range(count)]


def shortened(name: str, longest: int = _LONGEST) -> str:
    """A name that fits beside an axis: both ends of it, as names often differ in either."""
    name = "".join(letter if letter.isprintable() else " " for letter in name)
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 2
    return f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def legend_below(figure: Figure, axes: Axes) -> None:
    """What the marks of a panel mean, for all panels, under them."""
    handles, labels = axes.get_legend_handles_labels()
    widest = max(map(len, labels))
    columns = max(1, min(len(labels), int(figure.get_figwidth() / (0.55 + 0.078 * widest))))
    figure.legend(handles, labels, loc="outside lower left", ncols=columns)
