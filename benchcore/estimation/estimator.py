"""What every estimator takes and gives: from scores on the picks to scores for the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Picks from a pool, and all that an estimator may look at.

    Attributes:
        indices: (k,) int64 picked rows of the pool.
        groups: (n,) int64 group (benchmark) number of each row, from 0.
        mass: (n,) float64 what each row counts in the target, summing to 1 (macro: groups the same).
        features: blocks with n rows, as in `methods.problem.Problem`; `embedding` (n, d) among them where there is one.
            `item_response` (n, 2), slopes and intercepts fitted on the panel, spares the item response estimators
            their own fit.
        own: (k,) float64 weights that the method gave its picks, summing to 1, or None.
        panel: (n, p) float64 scores of models that are known on the whole pool, NaN where missing, or None. The models
            that are estimated are never among them.
    """

    indices: NDArray[np.int64]
    groups: NDArray[np.int64]
    mass: NDArray[np.float64]
    features: Mapping[str, NDArray[Any]]
    own: NDArray[np.float64] | None = None
    panel: Scores | None = None


class Estimator(Protocol):
    """An estimator: a function from a sample and scores on its picks to scores for the whole."""

    def __call__(self, sample: Sample, scores: Scores) -> Scores:
        """Estimate each model's score over the pool.

        Args:
            sample: the picks.
            scores: (k, models) on the picks, NaN where missing.

        Returns:
            (models,); NaN for a model without a score on any pick.
        """
        ...


@dataclass(frozen=True)
class EstimatorEntry:
    """A named estimator; it can be called like the estimator itself.

    Attributes:
        estimator: from a sample and scores to estimates. ValueError where a sample lacks what it needs.
        weights: from a sample to the (k,) weights of the picks, which sum to 1, where the estimate is a weighted mean.
        needs_panel: whether the sample must have a panel.
        needs_embedding: whether the sample must have the block `embedding`.
    """

    estimator: Estimator
    weights: Callable[[Sample], NDArray[np.float64]] | None = None
    needs_panel: bool = False
    needs_embedding: bool = False

    @property
    def linear(self) -> bool:
        """Whether the estimate is a weighted mean of the scores."""
        return self.weights is not None

    def __call__(self, sample: Sample, scores: Scores) -> Scores:
        """Estimate each model's score over the pool."""
        return self.estimator(sample, scores)
