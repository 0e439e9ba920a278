"""Laws of kernels by name: near their formula, exact in any block, and told where they are asked for what they lack."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.submodular.quantise import integer_mass
from benchcore.submodular.similarities.kernels import KERNELS, fit, similarity
from benchcore.submodular.similarities.rbf import RADIUS, mirrored, rbf_rows
from benchcore.submodular.similarities.similarity import TOP, Similarity

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
ALL = slice(None)


def vectors(seed: int = 0, n: int = 150, d: int = 48) -> np.ndarray:
    """Off the origin, with duplicates."""
    random = np.random.default_rng(seed)
    rows = (random.normal(size=(n, d)) + 0.4).astype(np.float32)
    rows[n // 2 :: 7] = rows[3]
    return rows


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def squared_distances(rows: np.ndarray) -> np.ndarray:
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=2)


def rbf(rows: np.ndarray) -> np.ndarray:
    squares = squared_distances(rows)
    apart = squares[np.triu_indices(len(rows), 1)]
    return np.exp(-squares / (2 * np.median(apart[apart > 1e-9])))


FORMULAS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cosine": lambda rows: np.maximum(unit(rows) @ unit(rows).T, 0),
    "centered_cosine": lambda rows: np.maximum(unit(rows - rows.mean(axis=0)) @ unit(rows - rows.mean(axis=0)).T, 0),
    "shifted_cosine": lambda rows: (1 + unit(rows) @ unit(rows).T) / 2,
    "rbf": rbf,
    "linear": lambda rows: np.maximum(rows @ rows.T, 0),
}


def full(found: Similarity) -> np.ndarray:
    return found.block(ALL, ALL)


@EVERY_KERNEL
@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
def test_a_kernel_is_its_formula_to_a_thousandth(kernel: str, power: float):
    """Raised to the power; in parts of the largest for those that keep lengths."""
    rows = vectors().astype(np.float64)
    expected = FORMULAS[kernel](rows) ** power

    found = similarity(vectors(), kernel, power=power)

    assert np.abs(full(found) / found.unit - expected).max() < 1.2e-3 * power * max(expected.max(), 1)


@EVERY_KERNEL
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_blocks_are_whole_numbers_that_depend_on_the_pair_alone(kernel: str, power: float):
    """Not on what else is asked, nor on how; equal rows are equally similar to everything."""
    found = similarity(vectors(), kernel, power=power)
    expected = full(found)
    some, others = np.array([149, 3, 3, 80]), np.array([7, 0, 149])

    assert expected.dtype == np.float32
    assert np.array_equal(expected, np.rint(expected))
    assert 0 <= expected.min() <= expected.max() <= TOP
    assert np.array_equal(expected[some][:, others], found.block(some, others))
    assert np.array_equal(expected[10:90, others], found.block(slice(10, 90), others))
    assert np.array_equal(expected[5:6, 9:140], found.block(np.array([5]), slice(9, 140)))
    assert np.array_equal(expected[75], expected[3])
    assert np.array_equal(np.diagonal(expected), found.diagonal())
    assert (found.candidates, found.represented) == expected.shape
    assert not found.signed


@EVERY_KERNEL
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_a_symmetric_kernel_is_symmetric_to_the_last_bit(kernel: str, power: float):
    """And says so; of candidates and others it says that it is not."""
    found = similarity(vectors(), kernel, power=power)

    assert found.symmetric
    assert np.array_equal(full(found), full(found).T)
    assert not similarity(vectors(), kernel, represented=vectors(1)).symmetric


@EVERY_KERNEL
def test_the_order_of_rows_changes_nothing(kernel: str):
    """Means, scales and medians are the same bits."""
    rows, order = vectors(), np.random.default_rng(5).permutation(150)
    mass = integer_mass(np.random.default_rng(6).dirichlet(np.ones(150)), np.zeros(150, np.int64))

    one = full(similarity(rows, kernel, mass=mass))
    other = full(similarity(rows[order], kernel, mass=mass[order]))

    assert np.array_equal(one[order][:, order], other)


@EVERY_KERNEL
def test_a_pool_and_its_query_are_compared_on_the_pools_terms(kernel: str):
    """A query that consists of pool rows has the similarities that these rows have, its own among themselves too."""
    rows = vectors()
    pool = fit(rows, kernel, others=(rows[20:30],))
    query = pool.rows(rows[20:30])
    expected = full(pool.between(pool.rows(rows), None))

    assert np.array_equal(expected[:, 20:30], full(pool.between(pool.rows(rows), query)))
    assert np.array_equal(expected[20:30, 20:30], full(pool.between(query, None)))


@pytest.mark.parametrize("kernel", ["cosine", "centered_cosine", "linear", "rbf", "shifted_cosine"])
def test_unclipped_kernels_are_positive_semi_definite(kernel: str):
    """What log-determinants need; those of dot products exactly so."""
    found = similarity(vectors(n=80), kernel, clipped=False)
    least = np.linalg.eigvalsh(full(found).astype(np.float64) / found.unit)[0]

    assert least > (-2e-5 if kernel in ("rbf", "shifted_cosine") else -1e-9)
    assert found.signed == (kernel in ("cosine", "centered_cosine", "linear"))


def test_the_mean_that_is_subtracted_is_weighted_by_mass():
    """With all mass on one row, that row has no direction left and is similar to its equals only."""
    mass = np.zeros(150)
    mass[3] = 7.0

    row = full(similarity(vectors(), "centered_cosine", mass=mass))[3]

    assert np.array_equal(np.flatnonzero(row), np.flatnonzero((vectors() == vectors()[3]).all(axis=1)))


def test_a_bandwidth_is_in_the_units_of_the_vectors():
    """Scaling vectors and bandwidth together changes nothing to speak of; the default follows by itself."""
    rows = vectors()
    bandwidth = 0.7 * np.sqrt(np.median(squared_distances(rows.astype(np.float64))))
    expected = np.exp(-squared_distances(rows.astype(np.float64)) / (2 * bandwidth**2))

    for scale in (1.0, 1e-6, 1e6):
        found = similarity((rows * scale).astype(np.float32), "rbf", bandwidth=bandwidth * scale)
        assert np.abs(full(found) / found.unit - expected).max() < 1e-3
    assert np.array_equal(full(similarity(rows, "rbf")), full(similarity(rows * 4, "rbf")))


@given(seed=st.integers(0, 9999), n=st.integers(2, 30), d=st.integers(1, 300))
def test_squared_distances_are_exact_in_any_order_of_adding_up(seed: int, n: int, d: int):
    """In single precision, also of the longest rows in opposite directions."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, d)).astype(np.float32)
    rows[1] = -rows[0]
    longest = float(np.linalg.norm(rows.astype(np.float64), axis=1).max())
    quantised = rbf_rows(rows, np.zeros(d), longest)
    points, order = quantised[:, :-2].astype(np.int64), random.permutation(d + 2)
    expected = ((points[:, None] - points[None]) ** 2).sum(axis=2)

    left, right = quantised[:, order], mirrored(quantised)[:, order]

    assert (points**2).sum(axis=1).max() <= RADIUS**2
    assert np.array_equal(expected, left @ right.T)
    assert np.array_equal(expected, np.cumsum(left[:, None] * right[None], axis=2, dtype=np.float32)[:, :, -1])


@pytest.mark.parametrize("bandwidth", [1e-300, 1e-3, 1e300])
def test_extreme_bandwidths_leave_equals_alone_or_everything_similar(bandwidth: float):
    """And nothing overflows."""
    rows = vectors()
    equal = (rows[:, None] == rows[None]).all(axis=2)

    found = full(similarity(rows, "rbf", bandwidth=bandwidth))

    assert np.array_equal(found == TOP, equal if bandwidth < 1 else np.ones_like(equal))


@EVERY_KERNEL
def test_a_single_row_and_equal_rows_have_a_kernel(kernel: str):
    """All of them as similar as can be."""
    for rows in (vectors()[:1], np.repeat(vectors()[:1], 5, axis=0)):
        found = full(similarity(rows, kernel))
        assert len(np.unique(found)) == 1
        assert found.max() > 0.999 * TOP


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_of_zeros_are_points_where_lengths_count(kernel: str):
    """The origin has distances, and products of 0."""
    found = full(similarity(np.zeros((3, 4), np.float32), kernel))

    assert np.array_equal(np.full((3, 3), TOP if kernel == "rbf" else 0), found)


@EVERY_KERNEL
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_any_kind_of_array_will_do(kernel: str, power: float):
    """Double precision, Fortran-ordered, read-only: the same bits."""
    rows = vectors(n=60)
    expected = full(similarity(rows, kernel, power=power))
    others = [rows.astype(np.float64), np.asfortranarray(rows), rows.copy()]
    others[2].setflags(write=False)

    for other in others:
        assert np.array_equal(expected, full(similarity(other, kernel, power=power)))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"kernel": "cosin"}, "did you mean 'cosine'"),
        ({"kernel": "what"}, "there are cosine, centered_cosine"),
        ({"power": 0.5}, "at least 1"),
        ({"power": np.nan}, "at least 1"),
        ({"power": 2.0, "clipped": False}, "needs similarities that are not negative"),
        ({"bandwidth": 1.0}, "only rbf has a bandwidth, not centered_cosine"),
        ({"kernel": "rbf", "bandwidth": 0.0}, "positive number, got 0.0"),
        ({"vectors": np.zeros(3)}, "shape"),
        ({"vectors": np.array([[1.0], [np.inf]])}, "not finite: 1"),
        ({"vectors": np.array([[1.0], [np.inf]]), "kernel": "rbf"}, "not finite: 1"),
        ({"vectors": np.array([[1.0], [0.0]])}, "all zeros: 1"),
        ({"represented": np.ones((2, 5))}, "48"),
        ({"represented": np.full((2, 48), np.nan)}, "not finite: 0, 1"),
        ({"vectors": np.array([[1e-30]]), "kernel": "linear", "power": 9.0}, "leave the range"),
        ({"vectors": np.array([[1.0], [1.1], [0.9], [500.0]]), "kernel": "linear"}, "times as long as the median one"),
    ],
)
def test_what_a_kernel_lacks_is_told(arguments: dict[str, object], told: str):
    """Naming the rows, the figure or the nearest right word."""
    with pytest.raises(ValueError, match=told):
        similarity(**{"vectors": vectors(), **arguments})
