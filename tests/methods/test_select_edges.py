"""What `benchcore.select` does with arguments at the edge: kinds of numbers and names, wrong types, extreme values."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchcore.errors import UsageError
from benchcore.methods.native import as_matrix
from benchcore.methods.select import select

N = 30
ROWS = np.abs(np.random.default_rng(0).normal(size=(N, 5))) + 0.1
KERNEL = ROWS @ ROWS.T
GROUPS = list("abc") * 10
NAMES = [f"i{row:02}" for row in range(N)]


def foreign(matrix: csr_array) -> csr_array:
    """Numbers and indices of the other byte order, as some readers leave them."""
    matrix.data = matrix.data.astype(">f4")
    matrix.indices, matrix.indptr = matrix.indices.astype(">i4"), matrix.indptr.astype(">i4")
    return matrix


def picked(**arguments: Any) -> Any:
    """Warnings are errors: none of NumPy's may reach a user."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return select(**{"embeddings": ROWS, "k": 5, **arguments})


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f4", np.longdouble, np.float16, ">i4"])
@pytest.mark.parametrize("objective", ["facility_location", "feature_based"])
def test_every_kind_of_number_is_read_as_what_it_stands_for(objective: str, dtype: Any):
    """Dense or sparse, of either byte order, of any precision."""
    whole = np.rint(ROWS * 8)
    expected = picked(embeddings=whole, objective=objective)

    assert picked(embeddings=whole.astype(dtype), objective=objective).ids == expected.ids
    assert as_matrix(whole.astype(dtype), "embeddings").dtype.isnative
    if objective == "feature_based":
        sparse = foreign(csr_array(whole))
        assert picked(embeddings=sparse, objective=objective).ids == expected.ids
        native = as_matrix(sparse, "embeddings")
        assert native.data.dtype.isnative
        assert native.indices.dtype.isnative
        assert (native != csr_array(whole)).nnz == 0


def test_what_is_native_is_not_copied():
    """Neither arrays nor sparse matrices."""
    rows, sparse = ROWS.astype(np.float32), csr_array(ROWS)

    assert as_matrix(rows, "x") is rows
    assert as_matrix(ROWS, "x") is ROWS
    assert as_matrix(sparse, "x").data is sparse.data


@pytest.mark.parametrize("scale", [1e-37, 1e37])
@pytest.mark.parametrize("kernel", ["centered_cosine", "cosine", "shifted_cosine", "rbf", "linear"])
def test_the_scale_of_vectors_changes_no_picks(kernel: str, scale: float):
    """As far as single precision has digits for them."""
    assert picked(embeddings=ROWS * scale, kernel=kernel).ids == picked(kernel=kernel).ids


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_the_scale_of_kernels_and_features_changes_no_picks(scale: float):
    """Far beyond single precision, too."""
    for given in ({"embeddings": KERNEL, "kernel": "precomputed"}, {"embeddings": ROWS, "objective": "feature_based"}):
        scaled = picked(**{**given, "embeddings": given["embeddings"] * scale})

        assert scaled.ids == picked(**given).ids
        assert scaled.value > 0


def test_an_asymmetric_kernel_says_how_similar_rows_are_to_candidates():
    """matrix[i, j] is row i to candidate j: the value is sum_i m_i max_{j in A} matrix[i, j], as written down."""
    kernel = np.random.default_rng(1).integers(0, 9, (7, 7)).astype(float)
    mass = np.arange(1.0, 8) / 28

    found = select(kernel, 3, kernel="precomputed", mass=mass)

    covered = np.zeros(7)
    for candidate in found.indices:
        assert candidate == np.argmax(mass @ np.maximum(kernel, covered[:, None]))
        covered = np.maximum(covered, kernel[:, candidate])
    assert np.isclose(found.value, mass @ covered, atol=1e-5)


def test_groups_and_weights_go_by_their_names_whatever_their_type():
    """Numbers as numbers are written, each by itself; bytes as UTF-8; a generator as a list."""
    mixed, whole = [1, 2.5] * 15, [1, 2, 3] * 10

    found = picked(groups=mixed, quotas={1: (2, 2), 2.5: (None, np.int64(3))})
    heavy = picked(groups=whole, mass={1: 2.0, "2": 1})

    assert sum(mixed[row] == 1 for row in found.indices) == 2
    assert heavy.ids == picked(groups=[str(group) for group in whole], mass={"1": 2.0}).ids
    assert heavy.ids != picked(groups=whole).ids
    assert picked(groups=(group.encode() for group in GROUPS)).ids == picked(groups=GROUPS).ids
    assert picked(groups=GROUPS, quotas={"a": (1, 10**30)}).ids == picked(groups=GROUPS, quotas={"a": (1, None)}).ids


def test_ids_are_told_apart_as_they_are_written():
    """Large whole numbers too, which floating-point numbers would run together."""
    large = [2**63 + 5, 2**63 + 6, -1, *range(N - 3)]

    assert set(picked(ids=large, k=N).ids) == {str(identity) for identity in large}
    assert set(picked(ids=np.arange(2**63, 2**63 + N, dtype=np.uint64), k=1).ids) <= {str(2**63 + r) for r in range(N)}
    assert picked(ids=iter(NAMES)).ids == picked(ids=np.array(NAMES)).ids == picked(ids=np.array(NAMES, object)).ids


def test_ids_to_include_come_in_any_collection():
    """None is none of them; a set is taken in the order of the ids."""
    expected = picked(include=[3, 4], exclude=["1", "2"])

    assert expected.ids[:2] == ("3", "4")
    for include, exclude in (
        ((str(i) for i in (3, 4)), {1, 2}),
        ({4, 3}, np.array([1, 2])),
        (np.array([3, 4]), (1, 2)),
    ):
        assert picked(include=include, exclude=exclude).ids == expected.ids
    assert picked(include=None, exclude=None).ids == picked().ids


def test_extreme_weights_and_prices_give_numbers():
    """Neither their sums nor their quotients leave double precision."""
    wide = np.where(np.arange(N) % 2, 1e-99, 1e99)
    for found in (
        picked(mass=np.full(N, 1e308)),
        picked(mass=np.full(N, 5e-324)),
        picked(groups=GROUPS, mass={"a": 1e99}),
        picked(costs=wide, budget=1),
        picked(costs=wide, budget=1e100),
        picked(objective="graph_cut", redundancy=1e99),
        picked(objective="log_determinant", scale=1e99),
        picked(kernel="rbf", bandwidth=1e-99, power=1e99),
        picked(power=1e99),
    ):
        assert np.isfinite(found.gains).all()
        assert np.isclose(found.weights.sum(), 1)
    assert picked(mass=np.full(N, 1e308)).ids == picked(mass="micro").ids


@pytest.mark.parametrize(("include", "value"), [([], False), (["3"], True)])
def test_a_cover_of_nothing_is_no_pick(include: list[str], value: bool):
    """Beyond the includes; its bound is that of k = 0."""
    covered = picked(k=None, cover=0, include=include)
    none = picked(k=len(include), include=include)

    assert covered.ids == none.ids == tuple(include)
    assert (covered.value > 0) == value
    assert covered.certificate.upper_bound == none.certificate.upper_bound == covered.value
    assert covered.certificate.ratio == none.certificate.ratio == 1
    assert covered.certificate.fewest == len(include)


def test_a_cover_that_k_does_not_allow_is_told(caplog: pytest.LogCaptureFixture):
    """With the picks, and how many would be needed at least; a k above what there is changes nothing."""
    with caplog.at_level(logging.WARNING):
        found = picked(k=2, cover=0.99)

    assert "2 picks, all that are allowed, reach less than 0.99" in caplog.text
    assert len(found.ids) == 2
    assert found.certificate.fewest > 2
    assert picked(k=99, cover=0.9).ids == picked(k=None, cover=0.9).ids


def test_with_a_budget_k_is_the_most():
    """It may exceed what quotas allow; without a budget it is refused."""
    limits = {"groups": GROUPS, "quotas": {"a": (1, 2), "b": (0, 3), "c": (0, 3)}}
    priced = {**limits, "costs": np.ones(N), "budget": 20.0}

    assert len(picked(k=40, **priced).ids) == len(picked(k=None, **priced).ids) == 8
    assert len(picked(k=None, **limits).ids) == 8  # all upper limits are filled
    assert len(picked(k=40, costs=np.ones(N), budget=7).ids) == 7
    with pytest.raises(UsageError, match="raise the maxima"):
        picked(k=9, **limits)


def test_ties_alone_are_told(caplog: pytest.LogCaptureFixture):
    """Where nothing was maximized at all."""
    assert picked(avoid=ROWS).ids == ("0", "1", "2", "3", "4")

    assert "no pick raises the objective" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"embeddings": KERNEL * 1e-280, "kernel": "precomputed"}, "embeddings: the largest number is 1.29"),
        ({"embeddings": csr_array(KERNEL * 1e-280), "kernel": "precomputed"}, "outside of 1e-100 to 1e+100"),
        ({"embeddings": ROWS * 1e-300, "objective": "feature_based"}, "features: the largest number is"),
        ({"embeddings": ROWS * 1e-20, "objective": "feature_based", "concave": "log"}, "which bends at 1, is flat"),
        ({"embeddings": ROWS * 1e-44}, "30 of 30 vectors lie outside of single precision (1e-38 to 3e+38): 0, 1"),
        ({"embeddings": (ROWS * 1e-44).astype(np.float32), "kernel": "linear"}, "outside of single precision"),
        ({"embeddings": ROWS * 1e-100}, "outside of single precision"),
        ({"embeddings": ROWS * 1e100}, "outside of single precision"),
        ({"embeddings": np.vstack([ROWS[1:], ROWS[:1] * 1e-44])}, "1 of 30 vectors lie outside of single precision"),
        ({"objective": "flqmi", "query": ROWS[:2] * 1e100}, "query: the largest numbers of 2 of 2 vectors"),
        ({"embeddings": np.ma.masked_array(ROWS, ROWS > 1)}, "embeddings: has masked values"),
        ({"costs": np.ma.masked_array(ROWS[:, 0], ROWS[:, 0] > 1), "budget": 3}, "costs: has masked values"),
        ({"embeddings": [[1, 2], [3]]}, "Give rows of the same length"),
        ({"embeddings": None}, "embeddings: expected rows of numbers, got a NoneType"),
        ({"embeddings": (row for row in ROWS)}, "got a generator"),
        ({"embeddings": ROWS + 1j}, "real numbers, got complex128"),
        ({"groups": GROUPS, "quotas": {"a": "12"}}, "the quota of 'a' is '12', not (low, high)"),
        ({"groups": GROUPS, "quotas": {"a": (1.5, 2)}}, "quotas of 'a': must be a whole number, got 1.5"),
        ({"groups": GROUPS, "quotas": {"a": (1, np.inf)}}, "whole number, got inf"),
        ({"groups": GROUPS, "quotas": ["a"]}, "quotas: must be {group: (low, high)}, got a list"),
        ({"groups": GROUPS, "quotas": "a"}, "got a str"),
        ({"quotas": {"a": (1, 2)}}, "quotas: names the group 'a', and rows have no groups"),
        ({"balanced": "no"}, "balanced: must be True or False, got 'no'"),
        ({"memory": np.nan}, "memory: must be a finite number of at least 0"),
        ({"memory": "1G"}, "memory: "),
        ({"groups": GROUPS, "mass": {"a": -1}}, "mass of a: must be a finite number of at least 0"),
        ({"groups": GROUPS, "mass": {"a": np.nan}}, "mass of a: "),
        ({"groups": GROUPS, "mass": {"a": np.inf}}, "mass of a: "),
        ({"groups": GROUPS, "mass": {"a": "x"}}, "mass of a: "),
        ({"groups": GROUPS, "mass": {"a": None}}, "mass of a: "),
        ({"groups": GROUPS, "mass": dict.fromkeys("abc", 0)}, "groups must be finite, not negative and not all zero"),
        ({"groups": GROUPS, "mass": {"d": 1}}, "mass: unknown group 'd'. There are a, b, c."),
        ({"mass": "category"}, "mass: unknown mass 'category'. There are macro, micro."),
        ({"mass": None}, "mass: expected several values"),
        ({"mass": ["1"] * N}, "mass: expected numbers"),
        ({"include": 3}, "include: expected several values, got 3"),
        ({"exclude": "3"}, "exclude: expected several values, got the text '3'"),
        ({"objective": None}, "objective: must be a name or {name: weight}, got None"),
        ({"objective": {}}, "objective: must be a name"),
        ({"objective": {"graph_cut": "x"}}, "weight of graph_cut: must be a finite number"),
        ({"objective": {"graph_cut": np.inf}}, "weight of graph_cut: "),
        ({"objective": {"graph_cut": 1e-20}}, "Multiply all weights"),
        ({"objective": {3: 1.0}}, "objective: must be one of facility_location"),
        ({"kernel": None}, "kernel: must be one of"),
        ({"power": "2"}, "power: must be a finite number of at least 1"),
        ({"power": 10**400}, "power: must be"),
        ({"kernel": "rbf", "bandwidth": "x"}, "bandwidth: must be a finite number above 0"),
        ({"kernel": "rbf", "bandwidth": 1e-200}, "bandwidth: must be a number of at least 1e-100"),
        ({"cover": "x"}, "cover: must be a finite number from 0 to 1, got 'x'"),
        ({"costs": np.ones(N), "budget": [3]}, "budget: must be a finite number"),
        ({"costs": np.where(np.arange(N) % 2, 1e-310, 1e308), "budget": 3}, "positive numbers from 1e-100 to 1e+100"),
        ({"costs": [None] * N, "budget": 3}, "costs: expected numbers, row 0 has None"),
        ({"optimizer": None}, "optimizer: must be one of lazy"),
        ({"optimizer": "threshold", "epsilon": 1e-300}, "epsilon: must be a finite number from 0.001 to 0.999"),
        ({"swaps": 1.5}, "swaps: must be a whole number of at least 0, got 1.5"),
        ({"seed": -1}, "seed: must be a whole number of at least 0, got -1"),
        ({"seed": None, "objective": "random"}, "seed: "),
        ({"advance": 5}, "advance: must be a function"),
        ({"k": "5"}, "k: must be a whole number, got '5'"),
        ({"k": True}, "k: must be a whole number, got True"),
        ({"objective": "graph_cut", "redundancy": 1e300}, "redundancy: must be a finite number"),
        ({"objective": "graph_cut", "redundancy": "x"}, "redundancy: must be a finite number"),
        ({"objective": "graph_cut", "redundancy": None}, "redundancy: must be a finite number"),
        ({"objective": "feature_based", "concave": None}, "concave: must be one of sqrt, log, ratio, min, got None"),
        ({"objective": "feature_based", "concave": "sqr"}, "Did you mean 'sqrt'?"),
        ({"objective": "feature_based", "feature_weights": ["x"] * 5}, "feature_weights: expected numbers"),
        ({"objective": "feature_based", "feature_weights": [1e308] * 5}, "feature_weights: must be numbers from 0"),
        ({"objective": "com", "query": ROWS[:2], "psi": 3}, "psi: must be one of"),
        ({"ids": ["x" * 200_000, *NAMES[1:]]}, "ids: row 0 has a name of 200,000 characters, more than 1,000"),
        ({"ids": ["a", "a\0", *NAMES[2:]]}, "ids: row 1 has a name that ends in a NUL character"),
        ({"ids": [None, None, *NAMES[2:]]}, "ids: row 0 has no value (None)"),
        ({"ids": [[1], [2], *NAMES[2:]]}, "ids: row 0 has no single value but a list"),
        ({"ids": set(NAMES)}, "ids: expected a list of one value a row, got a set"),
        ({"ids": "x" * N}, "ids: expected a list of one value a row, got a str"),
        ({"groups": [*GROUPS[1:], np.nan]}, "groups: row 29 has no value (nan)"),
        ({"groups": 5}, "groups: expected several values, got 5"),
        ({"optimizer": "sieve_streaming", "groups": GROUPS}, "(balanced=False, --no-balance)"),
    ],
)
def test_a_wrong_argument_is_one_line_that_names_it(arguments: dict[str, Any], told: str):
    """What, where, mend; never a traceback, and never picks of something else."""
    with pytest.raises(UsageError) as error:
        picked(**arguments)

    assert told in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_many_names_are_not_all_listed():
    """Twenty of them are."""
    with pytest.raises(UsageError, match="g19 and 10 more") as error:
        picked(groups=[f"g{row:02}" for row in range(N)], quotas={"-": (1, 2)})

    assert "g20" not in str(error.value)
