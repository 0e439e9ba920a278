"""What a set to avoid covers already: the floor of facility location's conditional gain."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.query_blocks import highest
from benchcore.submodular.similarities.similarity import TOP, Similarity


def avoidance_floor(similarity: Similarity, nu: float = 1.0, unit: float | None = None) -> NDArray[np.float32]:
    """The floor c_i = nu max_{p in P} s_ip of a `FacilityLocation` that is to keep away from P.

    It makes it facility location's conditional gain, sum_i m_i max(max_{j in A} s_ij - c_i, 0), c_i = nu max_{p in P}
    s_ip (Kothawade et al. 2022, arXiv 2103.00128). With nu = 1 that is what A adds to P, f(A u P) - f(P), exactly.
    Other floors are rounded down to whole numbers: no gain is below the formula's, and none is above it by more than
    one whole number of similarity a row.

    Args:
        similarity: of the represented rows (as its candidates) to the rows to avoid (as its represented rows).
        nu: not negative; how much being near to what is to be avoided counts against a row. A floor above all
            similarities leaves nothing to gain there.

        unit: what a similarity of 1 is to the facility location; default: the same as here.

    Returns:
        (rows,) whole numbers from 0, at most TOP.

    Raises:
        ValueError: nu is negative or not finite.
    """
    if not (math.isfinite(nu) and nu >= 0):
        raise ValueError(f"nu must be a number of at least 0, got {nu}")
    factor = nu * ((similarity.unit if unit is None else unit) / similarity.unit)
    floor: NDArray[np.float32] = np.minimum(np.floor(factor * highest(similarity).astype(np.float64)), TOP).astype(
        np.float32
    )
    return floor
