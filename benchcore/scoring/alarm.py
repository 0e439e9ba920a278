"""Alarm when a model departs from the others: what they say of items says little of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchcore.estimation.departure import departure
from benchcore.estimation.filled import filled
from benchcore.scoring.matrix import Scores
from benchcore.scoring.panel import SCORED
from benchcore.scoring.picked import Picked


@dataclass(frozen=True)
class Alarm:
    """A model whose pattern of scores on the picks is unlike that of the others.

    Attributes:
        model: its name.
        agreement: how well its scores follow the others' mean, from 0 to 1, 0.5 being not at all.
        usual: how well theirs follow each other.
        least: agreement below which there is an alarm: about one model in twenty that is like the others.
        others: how many there are.
    """

    model: str
    agreement: float
    usual: float
    least: float
    others: int


def alarms(coreset: Picked, names: Sequence[str], scores: Scores, panel: Scores | None) -> tuple[Alarm, ...]:
    """Find the models that depart.

    Args:
        coreset: of the picks.
        names: of the models.
        scores: (k, models), NaN where missing.
        panel: (k, p) what is usual; None: each model is held against all others.
    """
    found = []
    for column, name in enumerate(names):
        others = _usable(np.delete(scores, column, axis=1) if panel is None else panel)
        rows = np.isfinite(scores[:, column])
        told = departure(scores[rows, column], others[rows], coreset.groups[rows]) if others.shape[1] else None
        if told is not None and told.departs:
            found.append(Alarm(name, told.agreement, told.usual, told.least, others.shape[1]))
    return tuple(found)


def _usable(others: Scores) -> Scores:
    """Models with scores on nearly all picks, their gaps filled."""
    kept = others[:, np.isfinite(others).mean(axis=0) >= SCORED]
    return filled(kept) if kept.size else kept
