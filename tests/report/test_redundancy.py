"""Near duplicates and benchmarks that ask the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchcore.report.redundancy import LEAST, closest_pair, near_duplicates, places, shares
from benchcore.submodular.quantise import UNIT, quantise
from tests.report.planted import clustered


def with_twins(n: int, twins: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Prompts of benchmark 0, then as many of benchmark 1, of which the first `twins` nearly repeat those of 0."""
    vectors = clustered(2 * n, 32, 2 * n, seed)[0]
    noise = np.random.default_rng(seed).normal(size=(twins, 32)) * 0.01
    vectors[n : n + twins] = vectors[:twins] + noise * np.linalg.norm(vectors[:twins], axis=1, keepdims=True)
    return quantise(vectors, np.zeros(32)), np.repeat([0, 1], n)


@given(n=st.integers(1, 40), data=st.data())
def test_what_was_planted_is_found_and_nothing_else(n: int, data: st.DataObject):
    """In both directions; a prompt is no duplicate of itself."""
    twins = data.draw(st.integers(0, n))
    rows, groups = with_twins(n, twins)

    found = near_duplicates(rows, groups)

    alike = rows @ rows.T >= LEAST * UNIT
    np.fill_diagonal(alike, False)
    expected = np.stack([alike[:, groups == group].any(axis=1) for group in (0, 1)], axis=1)
    assert np.array_equal(expected, found)
    assert found[:twins, 1].all()


def test_comparing_inside_cells_misses_few():
    """And finds nothing that is not there."""
    rows, groups = with_twins(1500, 700)
    exact = near_duplicates(rows, groups)

    found = near_duplicates(rows, groups, exact_below=100)

    assert not (found & ~exact).any()
    assert found.sum() > 0.95 * exact.sum()


def test_shares_are_of_each_benchmark_by_its_size():
    """Three of four prompts here, three of twelve there."""
    found = np.zeros((16, 2), bool)
    found[:3, 1] = found[4:7, 0] = True

    assert shares(found, np.repeat([0, 1], [4, 12])).tolist() == [[0.0, 0.75], [0.25, 0.0]]


def test_means_tell_places_apart():
    """Two halves of one cluster lie in one place; another cluster does not."""
    vectors, member = clustered(300, 24, 2)
    groups = np.where(member == 0, np.arange(300) % 2, 2)

    cosines = places(quantise(vectors, np.zeros(24)), groups)

    assert np.allclose(np.diag(cosines), 1)
    assert cosines[0, 1] > 0.9
    assert abs(cosines[0, 2]) < 0.6


def test_the_closest_pair_is_the_planted_one():
    """One twin among strangers."""
    rows, _ = with_twins(30, 1)

    row, twin, similarity = closest_pair(rows, np.arange(30), np.arange(30, 60))

    assert (row, twin) == (0, 30)
    assert similarity > LEAST
