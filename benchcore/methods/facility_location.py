"""Facility location on the centred, clipped cosine, maximized greedily: picks that every item has one near of."""

from __future__ import annotations

import numpy as np

from benchcore.methods.problem import Certificate, Problem, Selection
from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.quantise import integer_mass, mass_weighted_mean, quantise, require_directions
from benchcore.submodular.similarities.dot import DotSimilarity


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
    rows = quantise(vectors, mass_weighted_mean(vectors, mass))
    objective = FacilityLocation(DotSimilarity(rows, clipped=False), mass)
    further = problem.k - len(problem.include)
    picks = lazy_greedy(objective, _rounds(problem, further), problem.include)
    found = certify(picks, objective, _rounds(problem, further), len(problem.include))
    return Selection(
        indices=picks.order,
        gains=picks.gains / objective.unit,
        value=objective.value / objective.unit,
        certificate=None if found is None else Certificate(found.bound / objective.unit, found.ratio, "exact"),
        roles=np.full(len(picks.order), "core"),
    )


def _rounds(problem: Problem, further: int) -> Rounds:
    return Rounds(problem.turns, problem.available, further, problem.given)
