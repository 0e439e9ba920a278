"""Intervals of random designs on the picks of a trial: how often they hold the true scores is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.intervals import Intervals, spread_intervals, stratified_intervals
from benchcore.lab.contestants import CONTROL, UNBALANCED
from benchcore.lab.protocol import TOKENS, Scores, Trial

# An interval holds the truth also where both are the same number up to rounding.
_ROUNDING = 1e-9

Indices = NDArray[np.int64]


def intervals(trial: Trial, method: str, indices: Indices, scores: Scores) -> Intervals | None:
    """Intervals for macro scores from a method's picks; None where it is no random design.

    Where tokens are equal, how many picks there are depends on which were drawn: no interval knows of that.

    Args:
        trial: the sub-pool.
        method: its name.
        indices: (k,) rows of the sub-pool.
        scores: (k, models) on them.
    """
    design = None if trial.protocol.equal == TOKENS else _DESIGNS.get(method)
    return None if design is None else design(trial, indices, scores)


def held(found: Intervals, truth: Scores) -> Scores:
    """(models,) 1 where the interval holds the true score, else 0; NaN without either."""
    inside = (found.low - _ROUNDING <= truth) & (truth <= found.high + _ROUNDING)
    return np.where(np.isnan(found.estimate) | np.isnan(truth), np.nan, inside)


def _stratified(trial: Trial, indices: Indices, scores: Scores) -> Intervals:
    sizes, shares = _target(trial)
    return stratified_intervals(scores, trial.groups[indices], sizes, shares)


def _spread(trial: Trial, indices: Indices, scores: Scores) -> Intervals:
    sizes, shares = _target(trial)
    return spread_intervals(scores, trial.groups[indices], sizes, shares, trial.coordinates[indices])


def _target(trial: Trial) -> tuple[Scores, Scores]:
    """Prompts of each benchmark, and equal shares."""
    sizes = np.bincount(trial.groups).astype(np.float64)
    return sizes, np.full(len(sizes), 1 / len(sizes))


# Given how many picks fall on each benchmark, a draw from the whole pool is one inside benchmarks.
_DESIGNS: Mapping[str, Callable[[Trial, Indices, Scores], Intervals]] = {
    CONTROL: _stratified,
    "plain_random": _stratified,
    CONTROL + UNBALANCED: _stratified,
    "local_pivotal": _spread,
}
