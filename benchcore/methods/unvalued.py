"""The selection of a method that maximizes nothing that could be told pick by pick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.problem import Selection


def unvalued(
    indices: NDArray[np.int64],
    *,
    weights: NDArray[np.float64] | None = None,
    inclusion_probabilities: NDArray[np.float64] | None = None,
) -> Selection:
    """Picks with gains and a value of zero, without a certificate."""
    return Selection(
        indices=indices.astype(np.int64),
        gains=np.zeros(len(indices)),
        value=0.0,
        certificate=None,
        roles=np.full(len(indices), "core"),
        inclusion_probabilities=inclusion_probabilities,
        weights=weights,
    )
