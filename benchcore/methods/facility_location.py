"""Facility location on the centred, clipped cosine, maximized greedily: picks that every item has one near of."""

from __future__ import annotations

import numpy as np

from benchcore.methods.problem import Certificate, Problem, Selection
from benchcore.submodular.certificate import upper_bound
from benchcore.submodular.facility_location import FacilityLocation
from benchcore.submodular.greedy import greedy
from benchcore.submodular.quantise import UNIT, integer_mass, mass_weighted_mean, quantise, require_directions
from benchcore.submodular.rounds import Rounds


def facility_location(problem: Problem) -> Selection:
    """Pick greedily so that the mass-weighted mean similarity of items to their nearest pick is largest.

    The value is within 1 - 1/e of the optimum for plain cardinality, within 1/2 in balanced rounds (Nemhauser, Wolsey
    and Fisher 1978; Fisher, Nemhauser and Wolsey 1978), and the certificate is usually far better. The first j picks
    are those of a problem with k = j.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    vectors = problem.features["embedding"]
    require_directions(vectors, problem.ids)
    mass = integer_mass(problem.mass, problem.group_numbers)
    objective = FacilityLocation(quantise(vectors, mass_weighted_mean(vectors, mass)), mass)
    turns, available = problem.turns, problem.available
    picks = greedy(objective, problem.k, Rounds(turns, available), problem.include)
    bound = upper_bound(
        objective.value,
        objective.all_gains(),
        groups=turns,
        candidates=available,
        counts=problem.given,
        k=problem.k - len(problem.include),
    )
    scale = float(mass.sum()) * UNIT
    return Selection(
        indices=picks.order,
        gains=picks.gains / scale,
        value=objective.value / scale,
        certificate=Certificate(bound / scale, objective.value / bound if bound > 0 else 1.0, "exact"),
        roles=np.full(len(picks.order), "core"),
    )
