"""The best affordable set: the better of two greedy runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.result import NONE, Advance, Greedy


def knapsack_greedy(
    objective: Objective,
    constraint: Callable[[], Constraint],
    include: NDArray[np.int64] = NONE,
    *,
    landmarks: bool = True,
    advance: Advance | None = None,
) -> Greedy:
    """The better of greedy by gain per cost and plain greedy, which begins with the best affordable single candidate.

    Within 0.405 of the optimum for a monotone submodular objective and a budget alone (Tang et al. 2021, arXiv
    2008.05391, for the better of greedy by gain per cost and the best single candidate; Lin and Bilmes 2010). Greedy by
    gain per cost alone has no constant bound: one cheap candidate can keep out a dear one. With minima, maxima or
    rounds beside the budget there is no such guarantee, but the certificate holds. Equal values go to the run by gain
    per cost. Prefixes are not nested: another budget may fit other candidates and favour the other run.

    Args:
        objective: stays at the empty set; the value of the result is the sum of its gains.
        constraint: makes the constraint at its start, with costs.
        include: candidates that come first, whatever their gains, in this order.
        landmarks: keep bounds on all gains at a few moments of both runs, for certificates.
        advance: told of every pick of both runs, to show progress.

    Raises:
        ValueError: the constraint has no costs.
    """
    if constraint().costs is None:
        raise ValueError("a knapsack needs costs; without them use lazy_greedy")
    runs, values = [], []
    for by_cost in (True, False):
        state = objective.fresh()
        run = lazy_greedy(state, constraint(), include, by_cost=by_cost, landmarks=landmarks, advance=advance)
        runs.append(run)
        values.append(state.value)
    best, other = (runs[0], runs[1]) if values[0] >= values[1] else (runs[1], runs[0])
    return Greedy(best.order, best.gains, other.landmarks + best.landmarks)
