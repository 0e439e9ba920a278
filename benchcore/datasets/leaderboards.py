"""Leaderboards that ship: how models score on whole tasks."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.datasets.index import LEADERBOARD, entry_of, folder


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Scores of models on tasks.

    Attributes:
        name: of the data set.
        models: (models,) distinct.
        tasks: (tasks,) distinct.
        scores: (models, tasks) in [0, 1], higher is better; NaN where missing.
        licence: of the figures.
        source: where they come from.
        note: what a user must know about them.
    """

    name: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: NDArray[np.float64]
    licence: str
    source: str
    note: str


def load_leaderboard(name: str) -> Leaderboard:
    """Load a leaderboard that ships.

    Args:
        name: one of `names("leaderboard")`.

    Raises:
        UsageError: there is no such leaderboard.
    """
    entry = entry_of(name, LEADERBOARD)
    text = (folder() / entry.file).read_text(encoding="utf-8")
    (_, *tasks), *rows = csv.reader(io.StringIO(text))
    return Leaderboard(
        name=name,
        models=tuple(model for model, *_ in rows),
        tasks=tuple(tasks),
        scores=np.array([[float(cell or "nan") for cell in cells] for _, *cells in rows], np.float64),
        licence=entry.licence,
        source=entry.source,
        note=entry.note,
    )
