"""Stochastic greedy: the best of a random sample at every pick."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.record import Record
from benchcore.submodular.optimizers.result import NONE, Greedy


def stochastic_greedy(
    objective: Objective,
    constraint: Constraint,
    k_expected: int,
    epsilon: float,
    seed: int,
    *,
    include: NDArray[np.int64] = NONE,
) -> Greedy:
    """Pick the best of ceil(n / k ln(1 / epsilon)) allowed candidates, drawn anew for every pick.

    In expectation within 1 - 1/e - epsilon of the optimum for a monotone submodular objective and cardinality, from
    n ln(1 / epsilon) gains whatever k is (Mirzasoleiman et al. 2015, arXiv 1409.7938). Samples are drawn without
    replacement among what is allowed, so that every pick is a new one and the run ends with the constraint. Ties go to
    the smallest index. With the same `k_expected` and seed, prefixes are nested under cardinality and rounds.

    Args:
        objective: at the empty set; holds all picks at the end.
        constraint: at its start.
        k_expected: number of picks that the size of the samples is for.
        epsilon: in (0, 1); smaller means larger samples.
        seed: the same seed gives the same picks.
        include: candidates that come first, whatever their gains, in this order.

    Raises:
        ValueError: `epsilon` or `k_expected` is out of range.
    """
    if not 0 < epsilon < 1 or k_expected < 1:
        raise ValueError(f"epsilon must be in (0, 1) and k_expected at least 1, got {epsilon} and {k_expected}")
    size = math.ceil(objective.n / k_expected * math.log(1 / epsilon))
    generator = np.random.default_rng(seed)
    record = Record(objective, include, constraint)
    while (allowed := np.flatnonzero(constraint.allowed())).size:
        sample = np.sort(generator.choice(allowed, min(size, len(allowed)), replace=False))
        gains = objective.gains(sample)
        best = int(np.argmax(gains))  # the first of equals
        record.put(int(sample[best]), float(gains[best]))
    return record.greedy()
