"""Figures of a comparison, as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchcore.lab.figures.drawing import can_draw, encoded
from benchcore.lab.figures.error_by_budget import error_by_budget
from benchcore.lab.figures.predicted import predicted_scores
from benchcore.lab.figures.rank_flips import rank_flips
from benchcore.lab.figures.ratio_maps import methods_by_suite, selection_by_estimator
from benchcore.lab.rows import Findings
from benchcore.whole_file import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "can_draw", "write_figures"]

FIGURES: Mapping[str, Callable[[Findings], Figure | None]] = {
    "error_by_budget": error_by_budget,
    "methods_by_suite": methods_by_suite,
    "selection_by_estimator": selection_by_estimator,
    "predicted_scores": predicted_scores,
    "rank_flips": rank_flips,
}


def write_figures(found: Findings, folder: Path, kind: str = "svg") -> list[Path]:
    """Write every figure that there is something to draw in.

    Args:
        found: of a comparison.
        folder: made where it is missing.
        kind: `svg` or `png`.

    Returns:
        The files.

    Raises:
        UsageError: matplotlib is not installed, or a file cannot be written.
    """
    files: list[Path] = []
    for name, draw in FIGURES.items():
        figure = draw(found)
        if figure is not None:
            files.append(folder / f"{name}.{kind}")
            write_file(files[-1], encoded(figure, kind))
    return files
