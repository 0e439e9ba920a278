"""What a matrix has seen on the picked tasks, and whether a new model lies outside of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchcore.leaderboard.matrix import Scores

_SHRINKAGE = 0.05  # of the covariance towards its diagonal, so that twin tasks do not make every model an outlier


@dataclass(frozen=True, eq=False)
class Seen:
    """Where the models of a matrix lie on the picks.

    Attributes:
        centre: (k,) mean score on each pick.
        covariance: (k, k) positive definite.
        farthest: largest Mahalanobis distance of a model of the matrix from the centre.
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

    def as_document(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "centre": self.centre.tolist(),
            "covariance": self.covariance.tolist(),
            "farthest": self.farthest,
            "weakest": self.weakest,
            "strongest": self.strongest,
        }


def seen_on(scores: Scores, picks: Sequence[int], means: Scores) -> Seen:
    """Describe where the models of a matrix lie on the picks.

    Args:
        scores: (models, tasks), NaN where missing.
        picks: indices of tasks.
        means: (models,) mean over all tasks.
    """
    picked = scores[:, list(picks)]
    counts = np.maximum((~np.isnan(picked)).sum(axis=0), 1)
    centre = np.nansum(picked, axis=0) / counts
    level = _levelled(picked - centre)
    covariance = level.T @ level / len(level)
    diagonal = np.diag(np.maximum(np.diag(covariance), 1e-8))
    covariance = (1 - _SHRINKAGE) * covariance + _SHRINKAGE * diagonal + 1e-10 * np.eye(len(picks))
    seen = Seen(centre, covariance, 0.0, float(np.nanmin(means)), float(np.nanmax(means)))
    return Seen(centre, covariance, float(np.nanmax(seen.distances(picked))), seen.weakest, seen.strongest)


def seen_from(document: Mapping[str, Any]) -> Seen:
    """What `as_document` wrote."""
    return Seen(
        np.asarray(document["centre"], np.float64),
        np.asarray(document["covariance"], np.float64),
        float(document["farthest"]),
        float(document["weakest"]),
        float(document["strongest"]),
    )


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


def _levelled(centred: Scores) -> Scores:
    """Centred scores whose missing cells take the model's mean over the others."""
    held = ~np.isnan(centred)
    level = np.nansum(centred, axis=1) / np.maximum(held.sum(axis=1), 1)
    return np.asarray(np.where(held, centred, level[:, None]), np.float64)
