"""The estimator of scikit-learn: its own checks, and the picks of `benchcore.select`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from benchcore import CoresetSelector, select

_FEWER_ROWS = "it takes transform to give as many rows as it gets, and this one picks rows"
FEWER_ROWS = dict.fromkeys(
    (
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit_idempotent",
    ),
    _FEWER_ROWS,
)
ZERO_ROW = {"check_estimators_dtypes": "its data have a row of zeros, which has no direction and is refused by its id"}


def rows(n: int = 50) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 6)) + 1


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (CoresetSelector(1), FEWER_ROWS | ZERO_ROW),
        (CoresetSelector(3, kernel="rbf"), FEWER_ROWS),
        (CoresetSelector(2, objective="feature_based", optimizer="stochastic"), FEWER_ROWS),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks_pass(selector: CoresetSelector, expected: dict[str, str]):
    """But for those that presuppose what a selection of rows is not; each is listed, and does fail."""
    results = check_estimator(selector, expected_failed_checks=expected, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}

    assert len(results) > 40
    assert failed == set(expected)


def test_it_picks_what_select_picks():
    """In the order of picking; the support says which."""
    picks = select(rows(), 7, kernel="rbf", power=2)
    selector = CoresetSelector(7, kernel="rbf", power=2).fit(rows())

    assert np.array_equal(picks.indices, selector.ranking_)
    assert np.array_equal(picks.gains, selector.gains_)
    assert np.array_equal(rows()[picks.indices], selector.transform(rows()))
    assert np.array_equal(rows()[picks.indices], clone(selector).fit_transform(rows()))
    assert np.array_equal(picks.indices, selector.get_support(indices=True))
    assert np.array_equal(np.sort(picks.indices), np.flatnonzero(selector.get_support()))
    assert picks.certificate == selector.certificate_


def test_y_says_the_groups_only_where_that_is_asked():
    """Otherwise labels are not looked at, as in any selector."""
    y = np.arange(50) % 5
    grouped = CoresetSelector(10, y_is_groups=True).fit(rows(), y)

    assert np.bincount(y[grouped.ranking_]).tolist() == [2] * 5
    assert np.array_equal(CoresetSelector(10).fit(rows(), y).ranking_, CoresetSelector(10).fit(rows()).ranking_)
    with pytest.raises(ValueError, match="requires y"):
        CoresetSelector(10, y_is_groups=True).fit(rows())


def test_options_are_those_of_select():
    """A budget instead of a number; an unknown one is told."""
    costs = np.where(np.arange(50) % 2, 1.0, 3.0)

    found = CoresetSelector(None, options={"costs": costs, "budget": 9}).fit(rows())

    assert costs[found.ranking_].sum() <= 9
    with pytest.raises(ValueError, match="Did you mean 'budget'"):
        CoresetSelector(3, options={"bugdet": 9}).fit(rows())


def test_options_go_before_the_arguments():
    """Every argument that select has can be said there, those with a parameter of their own too."""
    features = np.abs(rows())
    options = {"objective": "feature_based", "k": 7, "groups": np.arange(50) % 7}

    found = CoresetSelector(3, kernel="rbf", options=options).fit(csr_array(features))

    assert np.array_equal(select(features, **options).indices, found.ranking_)
    kernel = features @ features.T
    as_option = CoresetSelector(3, options={"kernel": "precomputed"}).fit(csr_array(kernel))
    assert np.array_equal(select(kernel, 3, kernel="precomputed").indices, as_option.ranking_)


def test_a_mixture_of_features_alone_takes_sparse_rows():
    """As select does; with another part it needs dense ones."""
    features = csr_array(np.abs(rows()))

    found = CoresetSelector(4, objective={"feature_based": 1}).fit(features)

    assert np.array_equal(select(features, 4, objective={"feature_based": 1}).indices, found.ranking_)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CoresetSelector(4, objective={"feature_based": 1, "graph_cut": 1}).fit(features)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState, int])
def test_what_draws_may_be_of_any_kind(kind: Any):
    """A generator, an older one or a seed: the same again for the same, another for another."""
    one, same, other = (
        CoresetSelector(9, objective="random", random_state=kind(seed)).fit(rows()).ranking_ for seed in (1, 1, 2)
    )

    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_data_frame_gives_one_back():
    """Its rows with their labels and types."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows(), columns=list("abcdef"), index=[f"row {row}" for row in range(50)])

    selector = CoresetSelector(4)
    found = selector.fit_transform(frame)

    assert found.equals(frame.iloc[selector.ranking_])
    assert np.array_equal(CoresetSelector(4).fit(rows()).ranking_, selector.ranking_)


def test_precomputed_and_sparse_rows_are_taken_by_name():
    """A kernel for X, or a sparse matrix of features."""
    kernel = np.exp(-((rows()[:, None] - rows()[None]) ** 2).sum(axis=2))
    features = csr_array(np.maximum(rows(), 0))

    assert CoresetSelector(4, kernel="precomputed").fit_transform(kernel).shape == (4, 50)
    assert CoresetSelector(4, objective="feature_based").fit_transform(features).shape == (4, 6)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CoresetSelector(4).fit(features)


def test_it_ends_a_pipeline():
    """After a step that keeps rows."""
    found = make_pipeline(StandardScaler(), CoresetSelector(4, random_state=np.random.RandomState(1))).fit_transform(
        rows()
    )

    assert found.shape == (4, 6)


def test_other_rows_than_those_that_were_fitted_are_refused():
    """And what was not fitted."""
    with pytest.raises(ValueError, match="50 rows that were fitted, and X has 49"):
        CoresetSelector(4).fit(rows()).transform(rows()[:49])
    with pytest.raises(NotFittedError):
        CoresetSelector(4).get_support()
