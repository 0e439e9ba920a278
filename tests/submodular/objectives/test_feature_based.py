"""Feature-based objectives: the forms a matrix may have, compiled loops, concave functions, bad input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives import feature_based, feature_rows
from benchcore.submodular.objectives.concave import CONCAVE
from benchcore.submodular.objectives.feature_based import FeatureBased
from benchcore.submodular.optimizers.lazy import lazy_greedy

FUNCTIONS = {"sqrt": np.sqrt, "log": np.log1p, "ratio": lambda c: c / (1 + c), "min": lambda c: np.minimum(c, 1)}
by_name = pytest.mark.parametrize("name", CONCAVE)


def amounts(seed: int, n: int = 60, width: int = 12) -> np.ndarray:
    """Sparse, with duplicates, of many sizes."""
    random = np.random.default_rng(seed)
    matrix = np.where(random.random((n, width)) < 0.4, random.lognormal(0, 2, (n, width)), 0).astype(np.float32)
    matrix[random.integers(0, n, n // 4)] = matrix[random.integers(0, n, n // 4)]
    return matrix


def run(features: Any, name: str, k: int = 15) -> list[list[float]]:
    """Picks, gains, first and last gains of all candidates, and the total."""
    objective = FeatureBased(features, np.linspace(0.1, 2, features.shape[1]), name)
    first = objective.gains(np.arange(objective.n))
    greedy = lazy_greedy(objective, Cardinality(np.ones(objective.n, bool), k))
    last = objective.gains(np.setdiff1d(np.arange(objective.n), greedy.order))
    return [*(found.tolist() for found in (greedy.order, greedy.gains, first, last)), [objective.total()]]


def read_only(matrix: np.ndarray) -> np.ndarray:
    frozen = matrix.copy()
    frozen.flags.writeable = False
    return frozen


def shuffled(matrix: np.ndarray) -> sparse.csr_array:
    """Rows with features out of order, one of them in two entries."""
    rows = sparse.csr_array(matrix)
    indices, data, starts = rows.indices.copy(), rows.data.copy(), rows.indptr.copy()
    for first, last in itertools.pairwise(starts):
        indices[first:last], data[first:last] = indices[first:last][::-1].copy(), data[first:last][::-1].copy()
    last = starts[-1] - 1
    halves = np.append(data[:-1], [data[last] / 2] * 2), np.append(indices, indices[last])
    starts[starts == len(data)] += 1
    return sparse.csr_array((*halves, starts), shape=matrix.shape)


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "double": lambda matrix: matrix.astype(np.float64),
    "fortran": np.asfortranarray,
    "read-only": read_only,
    "every other column": lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
    "csr": sparse.csr_array,
    "csr matrix of doubles": lambda matrix: sparse.csr_matrix(matrix.astype(np.float64)),
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "shuffled csr": shuffled,
}


@pytest.mark.parametrize("form", FORMS)
@by_name
def test_every_form_of_a_matrix_gives_the_same_bits(name: str, form: str):
    """Dense or sparse, whatever the layout and the type."""
    matrix = amounts(1)

    assert run(matrix, name) == run(FORMS[form](matrix), name)


def test_a_memory_mapped_matrix_just_works(tmp_path: Path):
    """Dense, and as the parts of a sparse one."""
    matrix = amounts(2)
    rows = sparse.csr_array(matrix)
    parts = []
    for name, part in (("dense", matrix), ("data", rows.data), ("indices", rows.indices), ("indptr", rows.indptr)):
        np.save(tmp_path / f"{name}.npy", part)
        parts.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    mapped = sparse.csr_array(tuple(parts[1:]), shape=matrix.shape)

    assert run(matrix, "sqrt") == run(parts[0], "sqrt") == run(mapped, "sqrt")


def test_neither_form_is_copied_or_changed():
    """The matrix that was given is the one that is read."""
    matrix = amounts(3)
    rows, out_of_order = sparse.csr_array(matrix), shuffled(matrix)
    before = out_of_order.indices.copy()

    assert np.shares_memory(matrix, feature_rows.FeatureRows(matrix).dense)
    assert np.shares_memory(rows.data, feature_rows.FeatureRows(rows).sparse.data)
    assert not np.shares_memory(out_of_order.data, feature_rows.FeatureRows(out_of_order).sparse.data)
    assert np.array_equal(before, out_of_order.indices)


@pytest.mark.parametrize("form", ["dense", "double", "csr", "csr matrix of doubles", "read-only"])
@by_name
def test_compiled_loops_give_the_bits_of_the_arrays_way(monkeypatch: pytest.MonkeyPatch, name: str, form: str):
    """On one thread or several, for any number of rows at a time."""
    matrix = amounts(4, n=300)
    features = matrix if form == "dense" else FORMS[form](matrix)
    expected = run(matrix, name, 40)
    monkeypatch.setattr(feature_based, "_COMPILED", 0)
    assert expected == run(features, name, 40)
    monkeypatch.setattr(feature_rows, "_ENTRIES", 500)

    assert expected == run(features, name, 40)


@pytest.mark.parametrize("entries", [1, 77, 10_000])
@by_name
def test_the_number_of_rows_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch, name: str, entries: int):
    """Not one bit."""
    matrix = amounts(5)
    expected = run(matrix, name)
    monkeypatch.setattr(feature_rows, "_ENTRIES", entries)

    assert expected == run(matrix, name)
    assert expected == run(sparse.csr_array(matrix), name)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(CONCAVE)),
    bits=st.integers(0, 50),
    x=st.integers(0, 2**50),
    sums=st.lists(st.integers(0, 2**50), min_size=2, max_size=30),
    near=st.integers(0, 2**50),
)
def test_rises_fall_to_the_last_bit(name: str, bits: int, x: int, sums: list[int], near: int):
    """Between sums far apart and next to each other."""
    one = 2.0**bits
    rise = CONCAVE[name].rise
    ascending = np.sort(np.array(sums + [min(near + step, 2**50) for step in range(40)], np.float64))
    rises = rise(ascending, float(x), one)

    assert (rises >= 0).all()
    assert (np.diff(rises) <= 0).all()
    assert (rise(ascending, 0.0, one) == 0).all()


def test_the_rise_of_the_logarithm_falls_also_where_the_ratio_passes_powers_of_two():
    """There the sum of a multiple of log 2 and a series changes from one multiple to the next."""
    for seed in range(200):
        random = np.random.default_rng(seed)
        one, power = 2.0 ** random.integers(0, 20), random.integers(1, 12)
        middle = float(random.integers(0, 2**36))
        x = (2.0**power - 1) * (one + middle) + random.integers(-3, 4)
        rises = CONCAVE["log"].rise(middle + np.arange(-min(middle, 30.0), 31.0), x, one)

        assert (np.diff(rises) <= 0).all()


@by_name
def test_sums_of_picks_are_exact_in_any_order(name: str):
    """Also of doubles that use all of their digits."""
    random = np.random.default_rng(8)
    matrix = random.random((200, 5))
    first, second = FeatureBased(matrix, concave=name), FeatureBased(matrix, concave=name)
    for pick in range(100):
        first.add(pick)
    for pick in random.permutation(100).tolist():
        second.add(pick)

    assert first.value == second.value
    assert np.array_equal(first.gains(np.arange(100, 200)), second.gains(np.arange(100, 200)))


@by_name
@settings(max_examples=100, deadline=None)
@given(c=st.floats(0, 1e6), x=st.floats(2.0**-26, 1e6))
def test_rises_are_those_of_the_function(name: str, c: float, x: float):
    """To a few units in the last place, however small they are beside the function."""
    from fractions import Fraction

    one = 2.0**30
    fixed_c, fixed_x = float(np.rint(c * one)), float(np.rint(x * one))
    low, high = Fraction(fixed_c) / Fraction(one), Fraction(fixed_c + fixed_x) / Fraction(one)
    exact = {
        "sqrt": lambda: float(high - low) / (math.sqrt(high) + math.sqrt(low)),
        "log": lambda: math.log1p(float((high - low) / (1 + low))),
        "ratio": lambda: float(high / (1 + high) - low / (1 + low)),
        "min": lambda: float(min(high, 1) - min(low, 1)),
    }[name]()
    rise = CONCAVE[name].rise(np.array([fixed_c]), np.array([fixed_x]), one)[0]

    assert math.isclose(exact, rise / CONCAVE[name].unit(one), rel_tol=1e-15 * 2)


@by_name
def test_a_planted_optimum_is_found(name: str):
    """Rows of one feature each: as many features as picks, those of the largest amounts, whatever g."""
    wanted = [3, 17, 42, 8]
    matrix = np.zeros((50, 5), np.float32)
    matrix[np.arange(50), np.arange(50) % 4] = 0.25
    matrix[wanted] = 0
    matrix[wanted, [0, 1, 2, 3]] = [0.9, 0.8, 0.7, 0.6]
    matrix[20, 4] = 0.001
    objective = FeatureBased(matrix, concave=name)
    greedy = lazy_greedy(objective, Cardinality(np.ones(50, bool), 4))

    assert greedy.order.tolist() == wanted
    assert objective.value / objective.unit == pytest.approx(FUNCTIONS[name](matrix[wanted].max(axis=1)).sum())


@by_name
def test_amounts_of_any_size_keep_their_digits(name: str):
    """The grid fits the largest amount and the number of rows."""
    for scale in (1e-30, 1e-6, 1.0, 1e6, 1e30) if name == "sqrt" else (1e-30, 1e-6, 1.0, 1e6):
        matrix = amounts(6).astype(np.float64) * scale
        objective = FeatureBased(matrix, concave=name)
        for pick in range(10):
            objective.add(pick)
        expected = FUNCTIONS[name](matrix[:10].sum(axis=0)).sum()

        assert math.isclose(expected, objective.value / objective.unit, rel_tol=1e-6, abs_tol=1e-13)


@pytest.mark.parametrize("name", ["log", "ratio", "min"])
def test_amounts_that_leave_no_room_for_a_bend_at_one_are_refused(name: str):
    """With the remedy; the square root has no bend."""
    with pytest.raises(ValueError, match=r"scale the features"):
        FeatureBased(amounts(6).astype(np.float64) * 1e20, concave=name)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int32, np.float16, list])
def test_counts_of_any_type_just_work(kind: Any):
    """Lists and truth values among them."""
    matrix = amounts(9) > 1
    features = matrix.tolist() if kind is list else matrix.astype(kind)

    expected, found = FeatureBased(matrix.astype(np.float64), concave="log"), FeatureBased(features, concave="log")

    assert expected.total() == found.total()
    assert np.array_equal(expected.gains(np.arange(60)), found.gains(np.arange(60)))


def test_features_of_nothing_and_pools_of_nothing_are_fine():
    """Only zeros; an empty row; no rows at all."""
    for matrix in (np.zeros((4, 3)), sparse.csr_array((4, 3))):
        objective = FeatureBased(matrix)
        greedy = lazy_greedy(objective, Cardinality(np.ones(4, bool), 3))
        assert greedy.order.tolist() == [0, 1, 2]
        assert objective.value == 0 == objective.total()
    assert FeatureBased(np.zeros((0, 3))).total() == 0


@pytest.mark.parametrize("fault", [-1.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array, np.asfortranarray])
def test_features_that_are_negative_or_no_numbers_are_refused(form: Callable[[np.ndarray], Any], fault: float):
    """With the rows."""
    matrix = amounts(7)
    matrix[5, 3] = matrix[19, 0] = fault
    with pytest.raises(ValueError, match=r"not in rows 5, 19$"):
        FeatureBased(form(matrix))


@pytest.mark.parametrize(
    ("features", "weights", "concave", "named"),
    [
        (np.ones(3), None, "sqrt", "matrix"),
        (np.ones((3, 0)), None, "sqrt", "at least one column"),
        (np.ones((3, 2)), np.ones(3), "sqrt", "each of 2 features"),
        (np.ones((3, 2)), np.array([1.0, -2.0]), "sqrt", r"weights\[1\] = -2.0"),
        (np.ones((3, 2)), np.array([np.nan, 1.0]), "sqrt", r"weights\[0\] = nan"),
        (np.ones((3, 2)), None, "cube", "sqrt, log, ratio, min, got 'cube'"),
    ],
)
def test_what_cannot_be_meant_is_refused(features: Any, weights: Any, concave: str, named: str):
    """With what is wrong and what would be right."""
    with pytest.raises(ValueError, match=named):
        FeatureBased(features, weights, concave)
