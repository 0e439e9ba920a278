"""What task estimators learn from: the scores of source models on all tasks, and what follows from them once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_completion import Completed, complete
from benchcore.estimation.task_moments import Moments, moments_of

Scores = NDArray[np.float64]
Indices = NDArray[np.int64]

# How much more the best source model counts than the median one, as an exponent: e of it. The next model is likely to
# be among the best.
STRENGTH = 1.0
EDGE = 0.02  # scores nearer to 0 and 1 than this are taken to be this near before logits are taken
_SMALL = 2.5e9  # multiplications: below it all inner products are computed at once, and serve for any picks
_LEAST = 1e-8  # squared score: below it is rounding


@dataclass(frozen=True, eq=False)
class Gram:
    """Weighted inner products of tasks and a constant over source models.

    Attributes:
        columns: (models, tasks + 1) values of the tasks, the last column the constant's.
        weights: (models,).
        noise: (tasks + 1,) what missing cells add to the products of a task with itself.
        spread: variance of what neither a model's level nor a task's says of a score.
    """

    columns: Scores
    weights: Scores
    noise: Scores
    spread: float
    _kept: dict[int, Scores] = field(default_factory=dict, init=False, repr=False)

    @property
    def tasks(self) -> int:
        """How many there are."""
        return int(self.columns.shape[1]) - 1

    @cached_property
    def products(self) -> Scores:
        """(tasks + 1, tasks + 1)."""
        found = self.columns.T @ (self.columns * self.weights[:, None])
        found[np.diag_indices_from(found)] += self.noise
        return np.asarray(found, np.float64)

    def rows(self, tasks: Indices) -> Scores:
        """(k, tasks + 1) some rows of the products; in a large matrix these alone are computed, and kept."""
        if self.columns.size * self.tasks <= _SMALL:
            return np.asarray(self.products[tasks], np.float64)
        new = np.array([task for task in tasks.tolist() if task not in self._kept], np.int64)
        if new.size:
            found = (self.columns[:, new] * self.weights[:, None]).T @ self.columns
            found[np.arange(len(new)), new] += self.noise[new]
            self._kept.update(zip(new.tolist(), found, strict=True))
        return np.array([self._kept[task] for task in tasks.tolist()], np.float64)


@dataclass(frozen=True, eq=False)
class TaskSource:
    """Scores of source models, with what estimators ask of them again and again.

    Attributes:
        scores: (models, tasks), NaN where missing.
    """

    scores: Scores

    @cached_property
    def completed(self) -> Completed:
        """The scores without gaps."""
        return complete(self.scores)

    @property
    def complete(self) -> Scores:
        """(models, tasks) without gaps."""
        return self.completed.scores

    @cached_property
    def moments(self) -> Moments:
        """Mean and shrunk covariance of tasks over models."""
        return moments_of(self.scores, self.completed)

    @cached_property
    def weights(self) -> Scores:
        """(models,) more for stronger models, 1 on average."""
        return strength_weights(self.complete.mean(axis=1))

    @cached_property
    def gram(self) -> Gram:
        """Inner products of the scores."""
        return gram_of(self.complete, self.completed, self.weights)

    @cached_property
    def logit_gram(self) -> Gram:
        """Inner products of the scores' logits."""
        return gram_of(logits(self.complete), self.completed, self.weights, slope=logit_slope(self.complete))


def strength_weights(strength: Scores) -> Scores:
    """(models,) weights that grow with the rank of a model's strength, 1 on average; equal models weigh the same."""
    _, numbers, counts = np.unique(strength, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    ranks = (middle / max(1, len(strength) - 1))[numbers]
    weights = np.exp(2 * STRENGTH * (ranks - 0.5))
    return np.asarray(weights / weights.mean(), np.float64)


def logits(scores: Scores) -> Scores:
    """Log odds of scores in [0, 1], those at the very edges drawn in."""
    inside = np.clip(scores, EDGE, 1 - EDGE)
    return np.asarray(np.log(inside / (1 - inside)), np.float64)


def logit_slope(scores: Scores) -> Scores:
    """(tasks,) how fast log odds change with the score at a task's mean."""
    mean = np.clip(scores.mean(axis=0), EDGE, 1 - EDGE)
    return np.asarray(1 / (mean * (1 - mean)), np.float64)


def gram_of(values: Scores, completed: Completed, weights: Scores, slope: Scores | float = 1.0) -> Gram:
    """Weighted inner products; what is not known of missing cells counts as noise.

    Args:
        values: (models, tasks) without gaps, scores or a function of them.
        completed: says which cells were missing.
        weights: (models,).
        slope: (tasks,) of that function, for the noise.
    """
    noise = np.append((weights @ completed.missing) * completed.noise * np.square(slope), 0.0)
    double = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    spread = float((double**2).mean() + noise.sum() / values.size)
    return Gram(np.column_stack([values, np.ones(len(values))]), weights, noise, max(spread, _LEAST))
