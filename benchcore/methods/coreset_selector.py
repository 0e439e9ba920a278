"""`benchcore.select` as an estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags, check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from benchcore.errors import UsageError
from benchcore.methods.material import PRECOMPUTED
from benchcore.methods.select import select


class CoresetSelector(BaseEstimator):  # type: ignore[misc]
    """Picks rows that stand for all, as an estimator: `fit` picks, `transform` keeps what was picked.

    It picks rows, not columns, so `transform` takes the array that was fitted and gives fewer rows back.

    From apricot (whose cosine is squared, so that opposite rows count as equals; here negative ones are 0):

    | apricot | here |
    |---|---|
    | `FacilityLocationSelection(100, metric="cosine")` | `CoresetSelector(100, kernel="cosine", power=2)` |
    | `FacilityLocationSelection(100, metric="precomputed")` | `CoresetSelector(100, kernel="precomputed")` |
    | `FeatureBasedSelection(100, concave_func="sqrt")` | `CoresetSelector(100, objective="feature_based")` |
    | `SaturatedCoverageSelection(100)`, `GraphCutSelection(100)` | `objective="saturated_coverage"`, `"graph_cut"` |
    | `MixtureSelection(100, [a, b], weights=[0.7, 0.3])` | `objective={"facility_location": 0.7, "graph_cut": 0.3}` |
    | `optimizer="two-stage"` | not needed: the default is exact and faster |
    | `.ranking`, `.gains` | `.ranking_`, `.gains_` |
    | `.fit(X, sample_cost=costs)` | `options={"costs": costs, "budget": 1000}` |

    Args:
        n_samples: how many rows to pick; None where a budget, quotas or cover in `options` decide.
        objective: of `benchcore.select`.
        kernel: of `benchcore.select`; with `precomputed`, X is the similarity matrix.
        power: of `benchcore.select`.
        optimizer: of `benchcore.select`.
        y_is_groups: whether the y of `fit` says each row's group; otherwise y is not looked at.
        random_state: for what draws: a seed, a Generator, a RandomState, or None for another draw every time.
        options: further arguments of `benchcore.select`, which go before those above: `groups`, `mass`, `quotas`,
            `costs`, `budget`, `redundancy`, ...

    Attributes:
        ranking_: (k,) row numbers in the order of picking.
        gains_: (k,) increase of the objective with each pick.
        weights_: (k,) what each pick counts for the whole, summing to 1.
        value_: the objective at the end.
        certificate_: how far from optimal that can be at most, or None.
        n_rows_in_: rows of the X that was fitted.
        n_features_in_: its columns.
    """

    def __init__(
        self,
        n_samples: int | None = 10,
        *,
        objective: str | Mapping[str, float] = "facility_location",
        kernel: str = "centered_cosine",
        power: float = 1.0,
        optimizer: str = "lazy",
        y_is_groups: bool = False,
        random_state: Any = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.n_samples = n_samples
        self.objective = objective
        self.kernel = kernel
        self.power = power
        self.optimizer = optimizer
        self.y_is_groups = y_is_groups
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any = None) -> Self:
        """Pick rows of X.

        Args:
            X: (n, d) rows; sparse ones for `feature_based` or `precomputed`.
            y: (n,) groups, where `y_is_groups`.

        Raises:
            ValueError: an argument is wrong; names the rows or the figures.
        """
        rows = self._checked(X, reset=True)
        if self._counts_features():
            check_non_negative(rows, "feature_based")
        if self.y_is_groups and y is None:
            raise ValueError("y_is_groups requires y to be passed: the group of each row, but the target y is None")
        try:
            picks = select(rows, **{**self._arguments(y), **(self.options or {})})
        except UsageError as error:
            raise ValueError(f"{error} (n_samples={rows.shape[0]} rows were given)") from error
        self.ranking_, self.gains_, self.weights_ = picks.indices, picks.gains, picks.weights
        self.value_, self.certificate_ = picks.value, picks.certificate
        self.n_rows_in_ = int(rows.shape[0])
        return self

    def _arguments(self, y: Any) -> dict[str, Any]:
        return {
            "k": self.n_samples,
            "objective": self.objective,
            "kernel": self.kernel,
            "power": self.power,
            "optimizer": self.optimizer,
            "groups": np.asarray(y).ravel().tolist() if self.y_is_groups else None,
            "seed": self._seed(),
        }

    def transform(self, X: Any) -> Any:
        """The picked rows of X, in the order of picking; of a data frame as one.

        Raises:
            ValueError: X has not as many rows as the array that was fitted.
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        if rows.shape[0] != self.n_rows_in_:
            raise ValueError(f"picks are of the {self.n_rows_in_} rows that were fitted, and X has {rows.shape[0]}")
        return X.iloc[self.ranking_] if hasattr(X, "iloc") else rows[self.ranking_]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Pick rows of X, and give them in the order of picking."""
        return self.fit(X, y).transform(X)

    def get_support(self, indices: bool = False) -> NDArray[np.bool_] | NDArray[np.int64]:
        """Which rows were picked: a mask over all rows, or their numbers in the order of picking."""
        check_is_fitted(self)
        if indices:
            ranking: NDArray[np.int64] = self.ranking_
            return ranking
        mask = np.zeros(self.n_rows_in_, bool)
        mask[self.ranking_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect: with a precomputed kernel both axes are rows."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        tags.input_tags.pairwise = self._asked("kernel") == PRECOMPUTED
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.positive_only = self._counts_features()
        tags.target_tags.required = self.y_is_groups
        return tags

    def _takes_sparse(self) -> bool:
        return self._counts_features() or self._asked("kernel") == PRECOMPUTED

    def _counts_features(self) -> bool:
        """Whether X is looked at as amounts of features and as nothing else."""
        objective = self._asked("objective")
        return (list(objective) if isinstance(objective, Mapping) else [objective]) == ["feature_based"]

    def _asked(self, argument: str) -> Any:
        """An argument of `select`: options go before those of their own."""
        return (self.options or {}).get(argument, getattr(self, argument))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr" if self._takes_sparse() else False)

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        if isinstance(self.random_state, np.random.Generator):
            return int(self.random_state.integers(2**31 - 1))
        return int(check_random_state(self.random_state).randint(2**31 - 1))
