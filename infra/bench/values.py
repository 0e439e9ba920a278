"""What picks are worth, computed in double precision from their definition: one judge for all libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Picks = NDArray[np.int64]
Vectors = NDArray[np.float32]

_ROWS = 2048


def value(objective: str, data: Any, picks: Picks) -> float:
    """The value of picks by the objective's name; rows count 1 each."""
    return {"facility_location": coverage, "log_determinant": log_determinant, "feature_based": concave_sum}[objective](
        data, picks
    )


def coverage(rows: Vectors, picks: Picks) -> float:
    """sum_i max(0, max_{j in A} x_i.x_j), the facility location of the clipped cosine."""
    chosen = rows[picks].astype(np.float64).T
    total = 0.0
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS].astype(np.float64) @ chosen
        total += float(np.maximum(block.max(axis=1), 0.0).sum())
    return total


def log_determinant(rows: Vectors, picks: Picks) -> float:
    """log det(I + K_A) of the cosine."""
    chosen = rows[picks].astype(np.float64)
    return float(np.linalg.slogdet(np.eye(len(chosen)) + chosen @ chosen.T)[1])


def concave_sum(features: Any, picks: Picks) -> float:
    """sum_f sqrt(sum_{j in A} x_jf)."""
    return float(np.sqrt(features[picks].astype(np.float64).sum(axis=0)).sum())
