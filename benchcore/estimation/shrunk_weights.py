"""Weights that lean toward the kernel's as far as the effective number of picks allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample
from benchcore.estimation.group_weights import macro_weights
from benchcore.estimation.kernel_weights import kernel_quadrature_weights

Weights = NDArray[np.float64]
MOST = 0.5  # of the way to the kernel's weights
KEPT = 0.95  # of the effective number of picks under macro weights


def effective_number(weights: Weights) -> float:
    """Kish's effective sample size, (sum w)^2 / sum w^2."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def shrunk_weights(sample: Sample) -> Weights:
    """(k,) macro weights moved toward kernel quadrature, at most half of the way and keeping 95 % of n_eff."""
    start = macro_weights(sample)
    step = kernel_quadrature_weights(sample) - start
    square, cross, base = step @ step, start @ step, start @ start
    if square <= 0:
        return start
    # The largest t with |start + t step|^2 <= base / KEPT; both sum to 1 at every t.
    root = (-cross + np.sqrt(cross**2 + square * base * (1 / KEPT - 1))) / square
    moved: Weights = start + min(MOST, float(root)) * step
    return moved
