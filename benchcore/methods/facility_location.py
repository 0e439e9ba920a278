"""Facility location on the centred, clipped cosine, maximized greedily: picks that every item has one near of."""

from __future__ import annotations

from benchcore.methods.greedy import maximize
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.objectives.facility_location import FacilityLocation
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
    return maximize(problem, lambda rows, mass: FacilityLocation(DotSimilarity(rows, clipped=False), mass))
