"""Score matrices without gaps, for methods that need every cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def filled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, models) a missing score is its model's mean plus how far its item is from the models' means on average.

    Additive in item and model, so that an easy item stays easy for a weak model. Nothing is drawn; what was observed
    stays as it is.

    Args:
        scores: (n, models), NaN where missing.

    Raises:
        ValueError: there is no score at all.
    """
    seen = ~np.isnan(scores)
    if seen.size and seen.all():
        return scores
    if not seen.any():
        raise ValueError("there is not one score to learn from")
    known = np.where(seen, scores, 0.0)
    overall = known.sum() / seen.sum()
    model = np.where(seen.any(axis=0), known.sum(axis=0) / np.maximum(seen.sum(axis=0), 1), overall)
    effect = np.where(seen, known - model, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    complete: NDArray[np.float64] = np.where(seen, known, model + effect[:, None])
    return complete
