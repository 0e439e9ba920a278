"""Weights from a kernel: quadrature of the pool's mean, and ridge predictions of every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample
from benchcore.estimation.group_weights import group_shares, macro_weights
from benchcore.estimation.nearest_weights import directions

Weights = NDArray[np.float64]
# What vectors explain of a model's item scores inside a benchmark: a few per cent (cross-validated R2 .003-.07).
EXPLAINED = 0.05
# A sum of weights that is off by e costs TOTAL * e^2, against at most 1 for all of the mean embedding.
TOTAL = 1.0
JITTER = 1e-6


def kernel_quadrature_weights(sample: Sample) -> Weights:
    """(k,) weights, not negative, that minimize the distance of their mean embedding to the pool's (MMD).

    Non-negative least squares in the kernel's space (Huszar and Duvenaud 2012 without the sign; Chen, Welling and
    Smola 2010 for equal weights), scaled to sum to 1. The kernel is RBF on the centred unit vectors with the median
    bandwidth of the picks, halved between groups, plus a constant that holds the sum near 1.
    """
    from scipy.optimize import nnls

    kernel = _kernel(sample)
    inner = kernel[sample.indices] + TOTAL
    inner[np.diag_indices_from(inner)] += JITTER
    factor = np.linalg.cholesky(inner).T
    target = sample.mass @ kernel + TOTAL * sample.mass.sum()
    target += JITTER * sample.mass[sample.indices]  # so that the mass itself is the answer where every row is picked
    weights, _ = nnls(factor, np.linalg.solve(factor.T, target), maxiter=30 * len(target))
    total = float(weights.sum())
    scaled: Weights = weights / total if total > 0 else macro_weights(sample)
    return scaled


def kernel_ridge_weights(sample: Sample) -> Weights:
    """(k,) weights of the best linear prediction: picked rows as they are, others by kernel ridge with group means.

    Universal kriging: y = a_group + f(x) + noise with f of RBF covariance, EXPLAINED of the variance inside a group,
    and a_group free. A group without a pick has the mean of the others' a. Weights can be negative.
    """
    kernel, picks = _kernel(sample), sample.indices
    noise = (1 - EXPLAINED) / EXPLAINED
    rest = sample.mass.copy()
    rest[picks] = 0.0
    shares = group_shares(sample)
    present = np.flatnonzero(np.bincount(sample.groups[picks], minlength=len(shares)) > 0)
    masses = np.bincount(sample.groups, rest, len(shares))
    lent = masses.sum() - masses[present].sum()
    inner = kernel[picks] + noise * np.eye(len(picks))
    design = (sample.groups[picks][:, None] == present).astype(np.float64)
    solved = np.linalg.solve(inner, np.column_stack([design, rest @ kernel]))
    wanted = masses[present] + lent * shares[present]
    multipliers = np.linalg.solve(design.T @ solved[:, :-1], wanted - design.T @ solved[:, -1])
    weights: Weights = sample.mass[picks] + solved[:, -1] + solved[:, :-1] @ multipliers
    return weights


def _kernel(sample: Sample) -> NDArray[np.float64]:
    """(n, k) RBF between rows and picks, halved between groups."""
    rows = directions(sample)
    picked = rows[sample.indices]
    lengths = np.einsum("ij,ij->i", rows, rows)
    squared = lengths[:, None] + lengths[sample.indices] - 2 * (rows @ picked.T)
    np.maximum(squared, 0, out=squared)
    squared[sample.indices, np.arange(len(picked))] = 0.0
    between = squared[sample.indices][np.triu_indices(len(picked), 1)]
    median = float(np.median(between[between > 0])) if (between > 0).any() else 1.0
    kernel = np.exp(squared / -median)
    kernel *= np.where(sample.groups[:, None] == sample.groups[sample.indices], 1.0, 0.5).astype(np.float32)
    double: NDArray[np.float64] = kernel.astype(np.float64)
    return double
