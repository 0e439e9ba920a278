"""Territories: each prompt to its nearest pick, and the curve of prefixes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchcore.report.nearness import territories
from benchcore.submodular.quantise import UNIT, quantise
from tests.report.planted import clustered


def rows_of(seed: int, n: int) -> np.ndarray:
    return quantise(clustered(n, 6, 3, seed)[0], np.zeros(6))


@given(seed=st.integers(0, 99), n=st.integers(1, 40), data=st.data())
def test_the_curve_is_the_coverage_of_each_prefix(seed: int, n: int, data: st.DataObject):
    """It never falls, and ends at the mean coverage by all picks."""
    rows, k = rows_of(seed, n), data.draw(st.integers(1, n))
    picks = np.random.default_rng(seed).permutation(n)[:k]
    mass = np.random.default_rng(seed).dirichlet(np.ones(n))

    found = territories(rows, picks, mass)

    assert (np.diff(found.prefixes) >= -1e-12).all()
    for size in (1, k):
        best = np.maximum((rows @ rows[picks[:size]].T).max(axis=1), 0)
        assert np.isclose(found.prefixes[size - 1], mass @ best / UNIT)
    assert np.isclose(found.prefixes[-1], mass @ found.coverage)


def test_a_tie_goes_to_the_earlier_pick_and_a_pick_stands_for_itself():
    """As in the selection."""
    rows = rows_of(0, 5)[[0, 1, 2, 0]]

    found = territories(rows, np.array([3, 0, 1]), np.full(4, 0.25))

    assert found.nearest.tolist()[:2] == [0, 2]
    assert found.nearest[3] == 0
    assert np.allclose(found.coverage[[0, 1, 3]], 1, atol=0.01)


def test_what_is_turned_away_from_all_picks_is_not_covered():
    """Similarity below zero counts as none."""
    rows = quantise(np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32), np.zeros(2))

    assert territories(rows, np.array([0]), np.full(2, 0.5)).coverage.tolist() == [1.0, 0.0]
