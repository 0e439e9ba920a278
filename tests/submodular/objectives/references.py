"""Every objective as its formula is written, on lists of picks, in its own terms and in double precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchcore.submodular.quantise import UNIT
from tests.submodular.objectives.instances import Instance

Reference = Callable[[Instance, list[int]], float]


def facility_location(given: Instance, picks: list[int]) -> float:
    return float(given.share @ given.cosines[:, picks].max(axis=1, initial=0))


def saturated_coverage(saturation: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        ceilings = saturation * given.cosines.sum(axis=1)
        return float(given.share @ np.minimum(given.cosines[:, picks].sum(axis=1), ceilings))

    return value


def graph_cut(redundancy: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        represented = (given.share @ given.cosines[:, picks]).sum()
        return float(represented - redundancy / given.n * given.cosines[np.ix_(picks, picks)].sum())

    return value


def feature_based(concave: Callable[[np.ndarray], np.ndarray]) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        weights = feature_weights(given)
        return float(weights @ concave(given.features[picks].astype(np.float64).sum(axis=0)))

    return value


def feature_weights(given: Instance) -> np.ndarray:
    """Some weights of features, one of them 0."""
    return np.arange(given.features.shape[1]) % 4 / 3


def mixture(*parts: tuple[float, Reference]) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        return sum(weight * reference(given, picks) for weight, reference in parts)

    return value


def to_queries(given: Instance) -> np.ndarray:
    """(n, 2) clipped cosines of rows and queries."""
    return np.maximum(given.rows.astype(np.int64) @ given.queries.astype(np.int64).T, 0) / UNIT


def log_determinant(scale: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        rows = given.rows[picks].astype(np.float64)
        return float(np.linalg.slogdet(np.eye(len(picks)) + scale * (rows @ rows.T) / UNIT)[1])

    return value


def flvmi(eta: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        caps = eta * to_queries(given).max(axis=1)
        return float(given.share @ np.minimum(given.cosines[:, picks].max(axis=1, initial=0), caps))

    return value


def flqmi(eta: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        likeness = to_queries(given)[picks]
        return float(likeness.max(axis=0, initial=0).sum() + eta * likeness.max(axis=1, initial=0).sum())

    return value


def gcmi(lam: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        return float(2 * lam * to_queries(given)[picks].sum())

    return value


def com(eta: float, psi: Callable[[np.ndarray], np.ndarray]) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        likeness = to_queries(given)[picks]
        return float(eta * psi(likeness.sum(axis=1)).sum() + psi(likeness.sum(axis=0)).sum())

    return value


def log_det_information(eta: float, ridge: float) -> Reference:
    """f(A) + f(Q) - f(A u Q), f the log-determinant with what lies between A and Q multiplied by eta."""

    def value(given: Instance, picks: list[int]) -> float:
        k, rows = len(picks), np.vstack([given.rows[picks], given.queries]).astype(np.float64)
        kernel = rows @ rows.T / UNIT
        kernel[:k, k:] *= eta
        kernel[k:, :k] *= eta
        kernel += ridge * np.eye(len(rows))
        parts = (kernel[:k, :k], kernel[k:, k:], kernel)
        return float(np.array([1, 1, -1]) @ [np.linalg.slogdet(part)[1] for part in parts])

    return value


def conditional_gain(nu: float) -> Reference:
    def value(given: Instance, picks: list[int]) -> float:
        avoided = nu * np.maximum(given.rows.astype(np.int64) @ given.avoid.astype(np.int64).T, 0).max(axis=1) / UNIT
        return float(given.share @ np.maximum(given.cosines[:, picks].max(axis=1, initial=0) - avoided, 0))

    return value
