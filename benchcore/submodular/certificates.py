"""How far from optimal a run's picks can be at most, at every prefix."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.result import Greedy


@dataclass(frozen=True, eq=False)
class Certificate:
    """Upper bounds on the optimum, in whole units of the objective (divide by its `unit`).

    Attributes:
        prefixes: (picks,) for each prefix of the order, a bound on the value of every set that holds the includes and
            could be a prefix instead of it: of the same size (or, with costs, no dearer) and open to completion. Among
            the includes it is the value itself.
        bound: the same for all feasible sets.
        ratio: the share of the optimum that the run's value is at least; 1 where the bound is 0.
    """

    prefixes: NDArray[np.float64]
    bound: float
    ratio: float


def certify(run: Greedy, objective: Objective, constraint: Constraint, includes: int = 0) -> Certificate | None:
    """Bound the optimum from the landmarks of a run.

    For a monotone submodular f, every set S is worth at most f(A) plus the gains at A of the members of S, whatever A
    (Nemhauser, Wolsey and Fisher 1978): so at every landmark A that holds the includes, the best feasible sum of gains
    bounds what any feasible set is worth, and the least of these bounds holds.

    Args:
        run: with landmarks, of any optimizer that keeps them.
        objective: the run's; its state does not matter.
        constraint: like the run's at its start, before the includes.
        includes: how many of the first picks were includes.

    Returns:
        None where the objective is not monotone or not submodular, and where the run kept no landmarks: then the bound
        is not known to hold.
    """
    if not objective.monotone or math.isinf(objective.slack) or not run.landmarks:
        return None
    for candidate in run.order[:includes]:
        constraint.take(int(candidate))
    further = run.order[includes:]
    values = np.cumsum(run.gains)
    sums = np.full(len(further), np.inf)
    bound = math.inf
    for landmark in run.landmarks:
        gains = landmark.bounds + objective.slack  # each further member may gain more by that much
        sums = np.minimum(sums, landmark.value + constraint.best_sums(gains, further))
        bound = min(bound, landmark.value + constraint.best_sum(gains))
    value = float(values[-1]) if len(values) else 0.0
    bound = max(bound, value)  # the run itself is feasible: what lies below is rounding
    prefixes = np.concatenate([values[:includes], np.maximum(sums, values[includes:])])
    return Certificate(prefixes, bound, value / bound if bound > 0 else 1.0)
