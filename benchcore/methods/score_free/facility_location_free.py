"""Facility location without quotas, with Voronoi weights: the form in which it was proposed for benchmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchcore.methods.facility_location import facility_location
from benchcore.methods.geometry.voronoi import voronoi_weights
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.quantise import integer_mass, mass_weighted_mean, quantise


def facility_location_free(problem: Problem) -> Selection:
    """Pick so that every item is near a pick, whatever its group; each pick weighs the mass that is nearest to it.

    "Coresets Before Score Sets" (arXiv 2607.09739) picks a joint subset over all benchmarks by facility location on
    embeddings. Its exact similarity and weights are not public; here they are the centred cosine, and Voronoi cells.

    Args:
        problem: with the block `embedding`; `balanced` is taken no notice of.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    free = replace(problem, balanced=False)
    found = facility_location(free)
    vectors = problem.features["embedding"]
    rows = quantise(vectors, mass_weighted_mean(vectors, integer_mass(problem.mass, problem.group_numbers)))
    return replace(found, weights=voronoi_weights(free, np.asarray(rows, np.float32), found.indices))
