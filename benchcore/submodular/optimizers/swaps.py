"""Swap refinement: a finished set, improved by exchanging one pick at a time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.record import Record
from benchcore.submodular.optimizers.result import NONE, Greedy


def swap_refinement(
    objective: Objective,
    order: NDArray[np.int64],
    available: NDArray[np.bool_],
    groups: NDArray[np.int64] | None = None,
    *,
    fixed: int = 0,
    sweeps: int = 10,
) -> Greedy:
    """Replace each pick in turn by the candidate that raises the value most, until no swap does.

    A local optimum under cardinality is within 1/2 of the optimum for a monotone submodular objective, and so is one
    of the same numbers by group (Fisher, Nemhauser and Wolsey 1978). Every pick costs a state of all the others and
    the gains of all candidates at it, k (k adds + n gains) a sweep: for small inputs. A swap must raise the value by
    more than rounding can (`slack`), so that the run ends.

    The order after swaps is not nested: its prefixes are neither greedy ones nor locally optimal.

    Args:
        objective: at the empty set; holds the refined picks at the end.
        order: the picks to start from.
        available: (n,) bool, candidates that may come in; picks may be among them.
        groups: (n,) group numbers: a pick is replaced from its own group alone, which keeps rounds and quotas.
        fixed: how many of the first picks (includes) stay.
        sweeps: passes over the picks at most.

    Returns:
        The picks, each in the place of the one that it replaced, with their gains in this order.
    """
    picks = order.copy()
    outside = available.copy()
    outside[picks] = False
    for _ in range(sweeps):
        swapped = False
        for place in range(fixed, len(picks)):
            better = _better(objective, picks, place, outside, groups)
            if better is not None:
                outside[picks[place]], outside[better] = True, False
                picks[place] = better
                swapped = True
        if not swapped:
            break
    record = Record(objective, NONE)
    for pick in picks:
        record.put(int(pick))
    return record.greedy()


def _better(
    objective: Objective,
    picks: NDArray[np.int64],
    place: int,
    outside: NDArray[np.bool_],
    groups: NDArray[np.int64] | None,
) -> int | None:
    """The candidate that is worth most in the place of a pick, where it is worth more than that."""
    own = picks[place]
    rivals = np.flatnonzero(outside if groups is None else outside & (groups == groups[own]))
    if not rivals.size:
        return None
    others = objective.fresh()
    for pick in np.delete(picks, place):
        others.add(int(pick))
    gains = others.gains(np.concatenate([[own], rivals]))
    best = int(np.argmax(gains[1:]))  # the first of equals
    margin = 0.0 if math.isinf(objective.slack) else objective.slack
    return int(rivals[best]) if gains[1 + best] > gains[0] + margin else None
