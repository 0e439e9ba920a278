"""Laws of quantised vectors and masses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.submodular.quantise import (
    NORM,
    TOTAL_MASS,
    UNIT,
    centre_of,
    integer_mass,
    mass_sums,
    mass_weighted_mean,
    mean_exponent,
    quantise,
    require_directions,
    round_to_norm,
)

shapes = {"seed": st.integers(0, 9999), "n": st.integers(1, 40), "d": st.integers(1, 400)}


def rows_of(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@given(**shapes)
def test_no_row_is_longer_than_the_bound_after_rounding(seed: int, n: int, d: int):
    """So that, by Cauchy-Schwarz, every partial sum of a dot product is a whole number of at most 2^24."""
    rows = rows_of(seed, n, d).astype(np.float64)

    rounded = round_to_norm(rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.int64)

    assert (rounded**2).sum(axis=1).max() <= UNIT
    assert np.array_equal(rounded, rounded.astype(np.float32))


def test_the_bound_holds_where_rounding_adds_most():
    """Every component rounds up by nearly one half."""
    for d in (2, 3, 7, 384, 1000):
        row = np.full((1, d), 1.0)
        row[0, 0] = (np.floor(NORM / np.sqrt(d)) + 0.501) / NORM * np.sqrt(d)
        rounded = round_to_norm(row / np.linalg.norm(row))

        assert (rounded.astype(np.int64) ** 2).sum() <= UNIT


@given(**shapes)
def test_single_precision_dot_products_are_exact_in_any_order(seed: int, n: int, d: int):
    """Single precision, with the components in another order, equals 64-bit integers."""
    rows = rows_of(seed, n, d)
    quantised = quantise(rows, rows.mean(axis=0, dtype=np.float64) / 2)
    order = np.random.default_rng(seed).permutation(d + 1)
    exact = quantised.astype(np.int64) @ quantised.astype(np.int64).T

    assert np.array_equal(exact, quantised @ quantised.T)
    assert np.array_equal(exact, quantised[:, order] @ quantised[:, order].T)
    assert np.array_equal(exact, np.cumsum(quantised[:, None] * quantised[None], axis=2, dtype=np.float32)[:, :, -1])


def test_similarity_is_the_centred_cosine():
    """To about 1e-4, one standard deviation."""
    rows = rows_of(0, 300, 384)
    centre = rows.mean(axis=0, dtype=np.float64)
    centred = rows - centre
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)

    quantised = quantise(rows, centre)

    error = quantised @ quantised.T / UNIT - centred @ centred.T

    assert np.sqrt((error**2).mean()) < 1.3e-4
    assert np.abs(error).max() < 6e-4


def test_rows_on_the_centre_are_similar_to_their_equals_only():
    """They have no direction left; equal rows are as similar as can be, others not at all."""
    rows = np.array([[1, 2], [1, 2], [3, 1], [-1, 3]], np.float32)

    similarity = quantise(rows, np.array([1.0, 2.0])) @ quantise(rows, np.array([1.0, 2.0])).T

    assert np.array_equal(np.full((2, 2), UNIT), similarity[:2, :2])
    assert not similarity[:2, 2:].any()
    assert similarity[2, 3] < 0


def test_a_pool_of_equal_rows_is_similar_throughout():
    """Its mean is the row itself, to the last bit or nearly so."""
    rows = np.repeat(rows_of(1, 1, 50), 7, axis=0)

    quantised = quantise(rows, mass_weighted_mean(rows, np.array([1.0, 5, 7, 9, 11, 13, 1000])))

    assert np.array_equal(np.full((7, 7), UNIT), quantised @ quantised.T)


@given(seed=st.integers(0, 999), n=st.integers(2, 60), parts=st.integers(1, 5))
def test_the_mean_depends_on_no_order_and_no_parts(seed: int, n: int, parts: int):
    """The same bits, whatever the order of rows and however they are divided; and it is the mean."""
    rows, random = rows_of(seed, n, 9) * 10.0 ** (seed % 9 - 4), np.random.default_rng(seed)
    mass = random.integers(1, 2**20, n).astype(np.float64)
    order = random.permutation(n)
    exponent = mean_exponent(float(np.abs(rows).max()))
    sums = sum(mass_sums(rows[part], mass[part], exponent) for part in np.array_split(order, parts))

    mean = mass_weighted_mean(rows, mass)

    assert np.array_equal(mean, mass_weighted_mean(rows[order], mass[order]))
    assert np.array_equal(mean, centre_of(sums, mass.sum(), exponent))
    assert np.allclose(mean, np.average(rows.astype(np.float64), axis=0, weights=mass), atol=1e-6 * np.abs(rows).max())


@pytest.mark.parametrize(("bad", "fault"), [(np.nan, "not finite"), (np.inf, "not finite"), (0.0, "all zeros")])
def test_rows_without_direction_are_named(bad: float, fault: str):
    """The error names the id and the fault."""
    rows = rows_of(0, 4, 3)
    rows[2] = bad

    with pytest.raises(ValueError, match=f"1 of 4 vectors are {fault}: c$"):
        require_directions(rows, ["a", "b", "c", "d"])


@given(seed=st.integers(0, 9999), n=st.integers(1, 200), groups=st.integers(1, 12))
def test_mass_is_kept_to_one_unit_and_within_the_bound(seed: int, n: int, groups: int):
    """Every item is within one unit of its exact part, and the total stays within 2^29."""
    random = np.random.default_rng(seed)
    mass, group = random.dirichlet(np.full(n, 0.3)), random.integers(0, groups, n)

    whole = integer_mass(mass, group)

    assert np.array_equal(whole, np.rint(whole))
    assert whole.min() >= 0
    assert TOTAL_MASS - 2**17 < whole.sum() <= TOTAL_MASS
    assert np.abs(whole / whole.sum() - mass).max() < 2.0**-27


@pytest.mark.parametrize("groups", [2, 3, 8, 40, 64, 1000])
def test_groups_of_equal_mass_get_equal_totals(groups: int):
    """Exactly, though their sizes differ and floating-point shares differ in the last bits."""
    sizes = np.random.default_rng(groups).integers(1, 90, groups)
    group = np.repeat(np.arange(groups), sizes)

    whole = integer_mass(1.0 / (groups * sizes[group]), group)

    assert len(set(np.bincount(group, weights=whole))) == 1


@pytest.mark.parametrize("mass", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [0.0, 0.0]])
def test_mass_that_is_none_is_refused(mass: list[float]):
    """Negative, not finite, or not summing to 1."""
    with pytest.raises(ValueError, match="mass"):
        integer_mass(np.array(mass), np.zeros(2, np.int64))
