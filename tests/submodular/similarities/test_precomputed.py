"""Laws of given kernels: read as they are, exact where they can be, refused where they are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from benchcore.submodular.similarities.precomputed import DenseSimilarity, SparseSimilarity
from benchcore.submodular.similarities.similarity import TOP

ALL = slice(None)
KINDS = pytest.mark.parametrize(
    "kind", [DenseSimilarity, lambda matrix, **same: SparseSimilarity(csr_array(matrix), **same)]
)


def kernel(n: int = 70, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    products = np.maximum(rows @ rows.T, 0)
    return np.maximum(products, products.T)


@KINDS
def test_a_kernel_is_read_to_half_a_unit_in_any_block(kind):
    """Whole numbers; symmetric; slices and rows in any order, with repeats."""
    expected = kernel()
    found = kind(expected)
    some, others = np.array([69, 0, 0, 31]), np.array([5, 5, 2])
    whole = found.block(ALL, ALL)

    assert whole.dtype == np.float32
    assert np.array_equal(whole, np.rint(whole))
    assert np.abs(whole).max() <= TOP
    assert np.abs(whole - expected * found.unit).max() <= 0.5
    assert found.unit >= TOP / 2
    assert np.array_equal(whole[some][:, others], found.block(some, others))
    assert np.array_equal(whole[3:40, others], found.block(slice(3, 40), others))
    assert np.array_equal(whole[some, 3:40], found.block(some, slice(3, 40)))
    assert np.array_equal(np.diagonal(whole), found.diagonal())
    assert found.symmetric
    assert not found.signed


@KINDS
@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0**-100, 2.0**70, 3.0])
def test_small_whole_numbers_stay_exact_on_any_scale_of_two(kind, scale: float):
    """Counts, halves and the like lose nothing."""
    counts = np.random.default_rng(0).integers(-1000, 5000, (9, 12)).astype(np.float64)

    found = kind(counts * scale, same=False)

    assert np.array_equal(counts * scale * found.unit, found.block(ALL, ALL))
    assert found.signed
    assert not found.symmetric


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_type_and_order_will_do(dtype: type, order: str, tmp_path: Path):
    """Read-only and memory-mapped as well; nothing is copied."""
    matrix = np.array(np.maximum(kernel(), np.eye(70)) > 0.5 if dtype is bool else kernel() * 100, dtype, order=order)
    np.save(tmp_path / "kernel.npy", matrix)
    mapped = np.load(tmp_path / "kernel.npy", mmap_mode="r")

    found = DenseSimilarity(mapped)

    assert np.abs(found.block(ALL, ALL) - matrix.astype(np.float64) * found.unit).max() <= 0.5
    assert np.array_equal(found.block(ALL, ALL), DenseSimilarity(matrix).block(ALL, ALL))


@KINDS
def test_rounding_noise_does_not_make_a_kernel_asymmetric(kind):
    """As a matrix product leaves it: read as exactly symmetric."""
    noisy = kernel() * (1 + 1e-14 * np.random.default_rng(1).normal(size=(70, 70)))
    half = (np.round(noisy * TOP) + 0.5) / TOP  # where rounding goes either way
    np.fill_diagonal(half, 1.0)
    half[np.tril_indices(70, -1)] -= 1e-9
    for matrix in (noisy, half):
        found = kind(matrix)

        assert found.symmetric
        assert np.array_equal(found.block(ALL, ALL), found.block(ALL, ALL).T)
        assert np.array_equal(found.block(slice(2, 9), slice(20, 50)), found.block(slice(20, 50), slice(2, 9)).T)


@KINDS
def test_an_asymmetric_kernel_says_so(kind):
    """It is used as it is."""
    matrix = kernel()
    matrix[3, 60] += 0.01

    found = kind(matrix)

    assert not found.symmetric
    assert found.block(ALL, ALL)[3, 60] > found.block(ALL, ALL)[60, 3]


@KINDS
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named(kind, bad: float):
    """By row and column."""
    matrix = kernel()
    matrix[41, 7] = bad

    with pytest.raises(ValueError, match="not finite at row 41, column 7"):
        kind(matrix)


@KINDS
def test_a_kernel_of_rows_with_themselves_is_square(kind):
    """And has entries."""
    with pytest.raises(ValueError, match="square"):
        kind(np.ones((3, 4)))
    with pytest.raises(ValueError, match="matrix of real numbers"):
        kind(np.ones((0, 0)))


def test_a_sparse_kernel_of_any_format_is_put_in_order():
    """Duplicates add up, zeros go, and the caller's matrix stays as it was."""
    given = coo_array(([1.0, 2.0, 4.0, 0.0], ([0, 1, 1, 2], [1, 0, 1, 2])), shape=(3, 3))
    doubled = csr_array((np.array([1.0, 1.0, 2.0]), np.array([1, 1, 0]), np.array([0, 2, 3, 3])), shape=(3, 3))

    found, added = SparseSimilarity(given), SparseSimilarity(doubled)

    assert found.matrix.nnz == 3
    assert np.array_equal([[0, 2, 0], [2, 0, 0], [0, 0, 0]], added.block(ALL, ALL) / added.unit)
    assert added.symmetric
    assert doubled.nnz == 3
    assert not SparseSimilarity(csr_array((4, 4))).block(ALL, ALL).any()
