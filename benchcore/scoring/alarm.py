"""Alarm when a model departs from the others: what they say of items says little of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.departure import REFERENCES, Departure, Usual, departure, usual
from benchcore.estimation.filled import filled
from benchcore.scoring.matrix import Scores
from benchcore.scoring.panel import SCORED
from benchcore.scoring.picked import Picked

# Beyond so many others one model is too small a part of what is usual to be left out of it.
_APART = 20


@dataclass(frozen=True)
class Alarm:
    """A model whose pattern of scores on the picks is unlike that of the others.

    Attributes:
        model: its name.
        agreement: how well its scores follow the others' mean, from 0 to 1, 0.5 being not at all.
        usual: how well theirs follow each other.
        least: agreement below which there is an alarm: of models like the others at most about one in twenty.
        others: how many there are.
    """

    model: str
    agreement: float
    usual: float
    least: float
    others: int


def alarms(coreset: Picked, names: Sequence[str], scores: Scores, panel: Scores | None = None) -> tuple[Alarm, ...]:
    """Find the models that depart.

    Args:
        coreset: of the picks.
        names: of the models.
        scores: (k, models), NaN where missing.
        panel: (k, p) what is usual; None: each model is held against all others.
    """
    found = []
    reference = _Reference(coreset, scores if panel is None else panel, own=panel is None)
    for column, name in enumerate(names):
        told = reference.departure(column, scores[:, column])
        if told is not None and told.departs:
            found.append(Alarm(name, told.agreement, told.usual, told.least, reference.others(column)))
    return tuple(found)


class _Reference:
    """What models are held against; how these agree is computed once for each set of picks that models share.

    Args:
        coreset: of the picks.
        scores: (k, models), NaN where missing; those with scores on nearly all picks are the reference.
        own: whether the models that are held against it are the same, in the same order.
    """

    def __init__(self, coreset: Picked, scores: Scores, *, own: bool) -> None:
        self._groups = coreset.groups
        self._columns = np.flatnonzero(np.isfinite(scores).mean(axis=0) >= SCORED)
        kept = scores[:, self._columns]
        self._scores = filled(kept) if kept.size else kept
        self._own = own
        self._known: dict[bytes, Usual | None] = {}

    def others(self, column: int) -> int:
        """How many models there are besides one."""
        return len(self._columns) - self._within(column)

    def departure(self, column: int, scores: Scores) -> Departure | None:
        """Hold one model's (k,) scores against the others'."""
        rows, count = np.isfinite(scores), self.others(column)
        if count < REFERENCES or not rows.any():
            return None
        others = self._scores[rows]
        if self._within(column) and count <= _APART:
            others = others[:, self._columns != column]
            return departure(scores[rows], others.mean(axis=1), usual(others, self._groups[rows]), self._groups[rows])
        own = scores[rows] if self._within(column) else 0.0
        # Where nearly all are scored, what is usual on all of them is: else each model with a gap would cost anew.
        usually = self._usual(rows if rows.mean() < SCORED else np.ones_like(rows))
        return departure(scores[rows], (others.sum(axis=1) - own) / count, usually, self._groups[rows])

    def _within(self, column: int) -> bool:
        return self._own and bool((self._columns == column).any())

    def _usual(self, rows: NDArray[np.bool_]) -> Usual | None:
        key = rows.tobytes()
        if key not in self._known:
            self._known[key] = usual(self._scores[rows], self._groups[rows])
        return self._known[key]
