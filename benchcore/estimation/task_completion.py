"""Score matrices without gaps: what a low-rank model says of the cells that are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Singles = NDArray[np.float32]

_RANK = 10
_SWEEPS = 12
_LEAST_SHARE = 0.02  # of the variance that additive effects leave: the noise is never taken to be less
_HIDDEN = 0.1  # of the observed cells, hidden once to learn how wrong the model is about cells that it has not seen
_LEAST_HIDDEN = 5  # and as many cells that are as wrong as the average are added to each task's own


@dataclass(frozen=True, eq=False)
class Completed:
    """A matrix without gaps.

    Attributes:
        scores: (models, tasks) observed scores as they are, the rest as the model expects them.
        noise: (tasks,) variance of what the model leaves open of a missing cell, learnt from cells that were hidden.
        missing: (models, tasks) which cells were missing.
    """

    scores: Scores
    noise: Scores
    missing: NDArray[np.bool_]


def complete(scores: Scores) -> Completed:
    """Fill missing cells by an additive model of models and tasks plus ten factors at most.

    The factors are those of probabilistic matrix factorization (Salakhutdinov and Mnih 2008), fitted by alternating
    ridge regressions in single precision from a start that is drawn by nothing: rows of the residuals. Time is
    O(cells x rank^2) a sweep, memory a few copies of the matrix.

    Args:
        scores: (models, tasks), NaN where missing.

    Raises:
        ValueError: there is no score at all.
    """
    seen = ~np.isnan(scores)
    tasks = scores.shape[1]
    if seen.all():
        return Completed(scores, np.zeros(tasks), ~seen)
    if not seen.any():
        raise ValueError("there is not one score to learn from")
    expected = _expected(scores, seen)
    return Completed(np.where(seen, scores, expected), _noise(scores, seen), ~seen)


def _expected(scores: Scores, seen: NDArray[np.bool_]) -> Scores:
    """(models, tasks) what the model fitted to the cells that are seen says of every cell, in the range of these."""
    additive = _additive(scores, seen)
    residual = np.where(seen, scores - additive, 0.0).astype(np.float32)
    low, high = scores[seen].min(), scores[seen].max()
    return np.asarray(np.clip(additive + _factors(residual, seen), low, high), np.float64)


def _noise(scores: Scores, seen: NDArray[np.bool_]) -> Scores:
    """(tasks,) mean squared error on a tenth of the observed cells, which a second fit does not see."""
    hidden = seen & _draw(scores, seen)
    if not hidden.any():  # a cell or two
        return np.full(scores.shape[1], float(scores[seen].var()))
    wrong = np.where(hidden, scores - _expected(scores, seen & ~hidden), 0.0)
    count = hidden.sum(axis=0)
    overall = float((wrong**2).sum() / count.sum())
    noise: Scores = ((wrong**2).sum(axis=0) + _LEAST_HIDDEN * overall) / (count + _LEAST_HIDDEN)
    return noise


def _draw(scores: Scores, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(models, tasks) cells to hide: in all copies of a model the same, as in a bootstrap sample one tells the other's.

    Of few cells more are hidden, but never more than half of them.
    """
    numbers: dict[bytes, int] = {}
    owner = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.where(seen, scores, -1.0)]
    share = min(0.5, max(_HIDDEN, 4 * _LEAST_HIDDEN / seen.sum()))
    return np.asarray(np.random.default_rng(0).random((len(numbers), scores.shape[1])) < share)[owner]


def _additive(scores: Scores, seen: NDArray[np.bool_]) -> Scores:
    """Model and task effects by least squares, each drawn to zero as if one more score said so."""
    mask = seen.astype(np.float32)
    known = np.where(seen, scores, 0.0)
    mean = float(known.sum() / seen.sum())
    of_models, of_tasks = known.sum(axis=1) - mean * seen.sum(axis=1), known.sum(axis=0) - mean * seen.sum(axis=0)
    models, tasks = np.zeros(len(scores)), np.zeros(scores.shape[1])
    for _ in range(_SWEEPS):
        tasks = (of_tasks - models.astype(np.float32) @ mask) / (seen.sum(axis=0) + 1)
        models = (of_models - mask @ tasks.astype(np.float32)) / (seen.sum(axis=1) + 1)
    fitted: Scores = mean + models[:, None] + tasks
    return fitted


def _factors(residual: Singles, seen: NDArray[np.bool_]) -> Singles:
    rank = min(_RANK, min(residual.shape) // 4)
    variance = float((residual.astype(np.float64) ** 2).sum() / seen.sum())
    if rank == 0 or variance <= 1e-12:
        return np.zeros_like(residual)
    mask = seen.astype(np.float32)
    longest = np.argsort(-(residual**2).sum(axis=1), kind="stable")[: 4 * rank]
    basis = np.linalg.svd(residual[longest], full_matrices=False)[2][:rank].T
    right = (basis * np.sqrt(variance * residual.shape[1] / rank / 2)).astype(np.float32)
    left = np.zeros((len(residual), rank), np.float32)
    noise = variance / 2
    for _ in range(_SWEEPS):
        left = _regress(residual, mask, right, noise)
        right = _regress(residual.T, mask.T, left, noise * 2 * rank / variance)
        wrong = (residual - left @ right.T) * mask
        noise = max(float((wrong.astype(np.float64) ** 2).sum() / seen.sum()), _LEAST_SHARE * variance)
    return np.asarray(left @ right.T, np.float32)


def _regress(residual: Singles, mask: Singles, other: Singles, penalty: float) -> Singles:
    """(rows, rank) ridge regressions of each row's observed residuals on the other side's factors."""
    rank = other.shape[1]
    products = (other[:, :, None] * other[:, None, :]).reshape(len(other), rank * rank)
    gram = (mask @ products).reshape(-1, rank, rank) + np.float32(penalty) * np.eye(rank, dtype=np.float32)
    solved = np.linalg.solve(gram.astype(np.float64), (residual @ other)[:, :, None].astype(np.float64))
    return np.asarray(solved[:, :, 0], np.float32)
