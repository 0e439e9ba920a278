"""What sets log-determinant mutual information apart, beyond the laws that every objective passes."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.submodular.objectives.log_det_information import LogDetMI
from benchcore.submodular.similarities.precomputed import DenseSimilarity


def information(kernel: np.ndarray, n: int, eta: float = 1.0, ridge: float = 1.0) -> LogDetMI:
    """Of the first n rows of a kernel about the others."""
    return LogDetMI(
        DenseSimilarity(kernel[:n, :n]),
        DenseSimilarity(kernel[:n, n:], same=False),
        DenseSimilarity(kernel[n:, n:]),
        eta,
        ridge,
    )


def test_one_pick_can_make_another_tell_more():
    """Candidate 1 says nothing about the query, but it is the noise in candidate 0: returns rise, and slack says so."""
    signal, noise = np.eye(2)
    rows = np.stack([signal + noise, noise, signal])
    found = information(rows @ rows.T, 2, ridge=0.01)
    alone = found.gains(np.array([0]))[0]

    assert found.gains(np.array([1]))[0] < 1e-12
    found.add(1)
    assert found.gains(np.array([0]))[0] > alone + 1
    assert np.isinf(found.slack)


def test_a_copy_of_the_query_tells_what_the_ridge_lets_it():
    """Two variables of variance 1 + r and covariance 1: log (1 + r)^2 / ((1 + r)^2 - 1)."""
    found = information(np.ones((2, 2)), 1, ridge=0.5)

    assert np.isclose(np.log(2.25 / 1.25), found.gains(np.array([0]))[0], rtol=1e-12)


def test_nothing_is_told_without_a_link():
    """With eta = 0, or a query that is like nothing."""
    rows = np.random.default_rng(0).normal(size=(6, 3))
    kernel = rows @ rows.T

    assert not information(kernel, 4, eta=0.0).gains(np.arange(4)).any()
    kernel[:4, 4:] = kernel[4:, :4] = 0
    assert not information(kernel, 4).gains(np.arange(4)).any()


def test_an_eta_that_leaves_no_variance_is_refused():
    """Above 1 it may go well, or ask for more than candidates have: named, with the remedy."""
    kernel = np.array([[1.0, 0.9], [0.9, 1.0]])

    assert np.isclose(np.log(4 / (4 - 1.5**2 * 0.81)), information(kernel, 1, eta=1.5).gains(np.array([0]))[0])
    with pytest.raises(ValueError, match=r"candidate 0 .*smaller eta"):
        information(kernel, 1, eta=3.0).gains(np.array([0]))


def test_wrong_arguments_are_refused():
    """Shapes, and parameters out of range."""
    kernel = np.eye(5)
    three, two, across = (
        DenseSimilarity(kernel[:3, :3]),
        DenseSimilarity(kernel[3:, 3:]),
        DenseSimilarity(kernel[:3, 3:], same=False),
    )

    with pytest.raises(ValueError, match=r"\(3, 3\), \(3, 2\) and \(2, 2\)"):
        LogDetMI(two, across, two)
    with pytest.raises(ValueError, match="symmetric"):
        LogDetMI(DenseSimilarity(np.triu(np.ones((3, 3)))), across, two)
    for eta in (-1.0, np.nan):
        with pytest.raises(ValueError, match="eta"):
            LogDetMI(three, across, two, eta)
    for ridge in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="ridge"):
            LogDetMI(three, across, two, 1.0, ridge)
