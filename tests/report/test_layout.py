"""The map's layout: the same points whatever the order, equal prompts together, like near like."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.report.layout import GRID, lay_out
from benchcore.submodular.quantise import quantise
from tests.report.planted import clustered


def rows_of(n: int, clusters: int, d: int = 16) -> tuple[np.ndarray, np.ndarray]:
    vectors, member = clustered(n, d, clusters)
    return quantise(vectors, np.zeros(d)), member


def names(n: int) -> np.ndarray:
    """Keys in another order than the rows, as hashes would be."""
    return np.array([f"{(number * 7919) % 10007:05d}" for number in range(n)])


def test_the_order_of_rows_and_another_run_change_nothing():
    """A permutation of the rows permutes the points."""
    rows, _ = rows_of(300, 5)
    keys, order = names(300), np.random.default_rng(1).permutation(300)

    points = lay_out(keys, rows, landmarks=60)

    assert np.array_equal(points[order], lay_out(keys[order], rows[order], landmarks=60))


def test_equal_prompts_share_a_point():
    """And do not move the others."""
    rows, _ = rows_of(120, 4)
    keys, twice = names(120), np.r_[np.arange(120), np.arange(20)]

    doubled = lay_out(keys[twice], rows[twice], landmarks=40)

    assert np.array_equal(doubled[:20], doubled[120:])
    assert np.array_equal(doubled[:120], lay_out(keys, rows, landmarks=40))


def test_like_lies_near_like():
    """Nearly all nearest neighbours on the map are of the same planted cluster, landmarks or not."""
    rows, member = rows_of(400, 6)
    points = lay_out(names(400), rows, landmarks=100).astype(float)
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)

    assert np.mean(member == member[apart.argmin(axis=1)]) > 0.9


def test_the_longer_side_fills_the_grid():
    """So that positions fit into 16 bits and lose nothing that can be seen."""
    points = lay_out(names(50), rows_of(50, 3)[0])

    assert np.abs(points).max() == GRID


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_few_prompts_have_places_of_their_own(n: int):
    """However few."""
    points = lay_out(names(n), rows_of(n, 2)[0])

    assert len(np.unique(points, axis=0)) == n


@settings(max_examples=10, deadline=None)
@given(n=st.integers(1, 12))
def test_prompts_that_all_say_the_same_make_no_trouble(n: int):
    """One direction, different names."""
    points = lay_out(names(n), np.tile(rows_of(1, 1)[0], (n, 1)))

    assert points.shape == (n, 2)
