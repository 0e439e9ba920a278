"""Scores as a source has them, before scales and directions are made the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchcore.leaderboard.matrix import Scale


@dataclass(frozen=True, eq=False)
class RawScores:
    """Scores in their own units.

    Attributes:
        where: the file or table, for errors.
        models, tasks: distinct names.
        values: (models, tasks), NaN where missing.
        signed: (models, tasks) whether a percent sign stood behind the number.
        families: of each model; None: told by the names.
        known: scales of tasks that the source itself declares.
        notes: what was mended, a sentence each.
    """

    where: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    values: NDArray[np.float64]
    signed: NDArray[np.bool_]
    families: tuple[str, ...] | None = None
    known: Mapping[str, Scale] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
