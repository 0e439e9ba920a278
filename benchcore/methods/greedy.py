"""Greedy maximization of an objective of the core, as a selection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchcore.methods.problem import Certificate, Problem, Selection
from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.lazy import lazy_greedy, with_landmarks_beyond
from benchcore.submodular.quantise import Rows, integer_mass, mass_weighted_mean, quantise, require_directions


def maximize(problem: Problem, make: Callable[[Rows, np.ndarray], Objective]) -> Selection:
    """Pick greedily in balanced rounds (or at will, if the problem is not balanced).

    Args:
        problem: with the block `embedding`.
        make: from (n, d) centred unit rows and (n,) mass, both in whole numbers, to an objective.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors = problem.features["embedding"]
    require_directions(vectors, problem.ids)
    mass = integer_mass(problem.mass, problem.group_numbers)
    return maximize_objective(problem, make(quantise(vectors, mass_weighted_mean(vectors, mass)), mass))


def maximize_objective(problem: Problem, objective: Objective) -> Selection:
    """Pick greedily from an objective over the problem's items, in balanced rounds or at will."""
    picks = lazy_greedy(objective, _rounds(problem), problem.include)
    value = objective.value
    found = certify(with_landmarks_beyond(picks, objective), objective, _rounds(problem), len(problem.include))
    return Selection(
        indices=picks.order,
        gains=picks.gains / objective.unit,
        value=value / objective.unit,
        certificate=None if found is None else Certificate(found.bound / objective.unit, found.ratio, "exact"),
        roles=np.full(len(picks.order), "core"),
    )


def _rounds(problem: Problem) -> Rounds:
    return Rounds(problem.turns, problem.available, problem.k - len(problem.include), problem.given)
