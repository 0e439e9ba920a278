"""What a matrix has seen on the picked tasks, and whether a new model lies outside of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchcore.leaderboard.matrix import Scores

_FARTHEST = 200  # models that are measured from the others
_SHRINKAGE = 0.05  # of the covariance towards its diagonal, so that twin tasks do not make every model an outlier


@dataclass(frozen=True, eq=False)
class Seen:
    """Where the models of a matrix lie on the picks.

    Attributes:
        centre: (k,) mean score on each pick.
        covariance: (k, k) positive definite.
        farthest: largest Mahalanobis distance of a model of the matrix, each one measured from the others alone: from a
            centre and a covariance that hold the model itself, a new model would often lie farther than all.
        weakest, strongest: least and largest mean over all tasks of a model of the matrix.
    """

    centre: Scores
    covariance: Scores
    farthest: float
    weakest: float
    strongest: float

    def distances(self, picked: Scores) -> Scores:
        """(models,) Mahalanobis distances, from the picks that each model has, scaled up for those that it lacks."""
        found = np.full(len(picked), np.nan)
        for row, own in enumerate(picked):
            there = np.flatnonzero(~np.isnan(own))
            if there.size:
                apart = own[there] - self.centre[there]
                square = float(apart @ np.linalg.solve(self.covariance[np.ix_(there, there)], apart))
                found[row] = np.sqrt(square * len(own) / there.size)
        return found

    def filled(self, picked: Scores) -> Scores:
        """(models, k) scores on the picks, missing ones as the others lead to expect (Gaussian)."""
        found = picked.copy()
        for row, own in enumerate(picked):
            gone, there = np.flatnonzero(np.isnan(own)), np.flatnonzero(~np.isnan(own))
            if gone.size:
                apart = np.linalg.solve(self.covariance[np.ix_(there, there)], own[there] - self.centre[there])
                found[row, gone] = self.centre[gone] + self.covariance[np.ix_(gone, there)] @ apart
        return np.asarray(np.clip(found, 0.0, 1.0), np.float64)

    def open_directions(self, own: Scores) -> Scores:
        """(missing, k) independent ways in which a model's missing picks can differ from `filled`, a deviation long.

        Args:
            own: (k,) scores of one model, NaN where missing; at least one is there.
        """
        gone, there = np.flatnonzero(np.isnan(own)), np.flatnonzero(~np.isnan(own))
        across = self.covariance[np.ix_(there, gone)]
        known = across.T @ np.linalg.solve(self.covariance[np.ix_(there, there)], across)
        variances, axes = np.linalg.eigh(self.covariance[np.ix_(gone, gone)] - known)
        found = np.zeros((len(gone), len(own)))
        found[:, gone] = (axes * np.sqrt(np.maximum(variances, 0.0))).T
        return found

    def as_document(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "centre": self.centre.tolist(),
            "covariance": self.covariance.tolist(),
            "farthest": self.farthest,
            "weakest": self.weakest,
            "strongest": self.strongest,
        }


def seen_on(scores: Scores, picks: Sequence[int]) -> Seen:
    """Describe where the models of a matrix lie on the picks.

    Args:
        scores: (models, tasks) without gaps.
        picks: indices of tasks.
    """
    means = scores.mean(axis=1)
    picked = scores[:, list(picks)]
    centre = picked.mean(axis=0)
    covariance = (picked - centre).T @ (picked - centre) / len(picked)
    seen = Seen(centre, _shrunk(covariance), 0.0, float(means.min()), float(means.max()))
    return replace(seen, farthest=_farthest(seen, picked, covariance))


def _shrunk(covariance: Scores) -> Scores:
    diagonal = np.diag(np.maximum(np.diag(covariance), 1e-8))
    shrunk = (1 - _SHRINKAGE) * covariance + _SHRINKAGE * diagonal + 1e-10 * np.eye(len(covariance))
    return np.asarray(shrunk, np.float64)


def _farthest(seen: Seen, picked: Scores, covariance: Scores) -> float:
    """Largest distance of a model from the others; only those that lie far from all are tried."""
    distances, models = seen.distances(picked), len(picked)
    if models < 3:
        return float(distances.max())
    found = []
    for row in np.argsort(-distances, kind="stable")[:_FARTHEST]:
        apart = picked[row] - seen.centre
        rest = models / (models - 1) * (covariance - np.outer(apart, apart) / (models - 1))
        others = replace(seen, centre=seen.centre - apart / (models - 1), covariance=_shrunk(rest))
        found.append(float(others.distances(picked[row : row + 1])[0]))
    return max(found)


def seen_from(document: Mapping[str, Any], picks: int) -> Seen:
    """What `as_document` wrote.

    Raises:
        ValueError: it is not for so many picks.
    """
    seen = Seen(
        np.asarray(document["centre"], np.float64),
        np.asarray(document["covariance"], np.float64),
        float(document["farthest"]),
        float(document["weakest"]),
        float(document["strongest"]),
    )
    if seen.centre.shape != (picks,) or seen.covariance.shape != (picks, picks):
        raise ValueError(f"what was seen is not for {picks} picks")
    if not (np.isfinite(seen.centre).all() and np.isfinite(seen.covariance).all()):
        raise ValueError("what was seen holds numbers that are none")
    return seen


def warnings(seen: Seen, picked: Scores, means: Scores) -> list[list[str]]:
    """What to mind about each new model, a sentence each; no sentence for one like those in the matrix.

    Args:
        seen: of the matrix.
        picked: (models, k) scores on the picks, NaN where missing.
        means: (models,) predicted means over all tasks.
    """
    told: list[list[str]] = [[] for _ in picked]
    distances = seen.distances(picked)
    for row, mean in enumerate(means):
        if mean > seen.strongest:
            told[row].append(f"stronger ({100 * mean:.1f}) than every model of the matrix ({100 * seen.strongest:.1f})")
        if mean < seen.weakest:
            told[row].append(f"weaker ({100 * mean:.1f}) than every model of the matrix ({100 * seen.weakest:.1f})")
        if distances[row] > seen.farthest:
            told[row].append(
                f"its scores on the picks go together as no model's of the matrix do (distance {distances[row]:.1f}, "
                f"the farthest seen {seen.farthest:.1f})"
            )
    return told
