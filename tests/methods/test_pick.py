"""The core alone, on arrays: parity with a float64 reference, order of rows, bad input."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from benchcore.errors import UsageError
from benchcore.methods.mass import group_shares, item_mass
from benchcore.methods.pick import pick
from benchcore.submodular.greedy import naive_greedy
from benchcore.submodular.quantise import UNIT, integer_mass, mass_weighted_mean, quantise
from benchcore.submodular.rounds import Rounds


def pool(seed: int = 0, n: int = 80) -> tuple[np.ndarray, list[str], list[str]]:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(7, 10))
    vectors = centres[random.integers(0, 7, n)] + 0.3 * random.normal(size=(n, 10)) + 2.0
    vectors[n // 2 :: 5] = vectors[0]
    return vectors, [f"id{row:03d}" for row in random.permutation(n)], random.choice(list("xyz"), n).tolist()


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_picks_equal_a_plain_float64_greedy_on_the_same_similarities(seed: int, balanced: bool):
    """The same ids, gains and value."""
    vectors, ids, groups = pool(seed)
    order = np.argsort(ids)
    numbers = np.unique(groups, return_inverse=True)[1][order]
    mass = integer_mass(item_mass(np.full(3, 1 / 3), numbers), numbers)
    rows = quantise(vectors[order].astype(np.float32), mass_weighted_mean(vectors[order].astype(np.float32), mass))
    rounds = Rounds(numbers if balanced else numbers * 0)
    expected = naive_greedy((rows.astype(np.float64) @ rows.T.astype(np.float64)), mass, 30, rounds)

    found = pick(vectors, 30, ids=ids, groups=groups, balanced=balanced)

    assert order[expected.order].tolist() == found.indices.tolist()
    assert [ids[row] for row in found.indices] == list(found.ids)
    assert np.array_equal(expected.gains / (mass.sum() * UNIT), found.gains)


def test_the_order_of_rows_changes_nothing():
    """The same ids in the same order with the same gains and weights, ties included."""
    vectors, ids, groups = pool()
    order = np.random.default_rng(9).permutation(len(ids))

    one = pick(vectors, 25, ids=ids, groups=groups)
    other = pick(vectors[order], 25, ids=[ids[row] for row in order], groups=[groups[row] for row in order])

    assert one.ids == other.ids
    assert np.array_equal(one.gains, other.gains)
    assert np.array_equal(one.weights, other.weights)
    assert one.certificate == other.certificate


def test_mass_decides_what_is_covered():
    """With all weight on one group its rows come first; weights of rows do the same as weights of groups."""
    vectors, ids, groups = pool()
    only_x = {"x": 1.0, "y": 0.0, "z": 0.0}

    by_group = pick(vectors, 10, ids=ids, groups=groups, mass=only_x, balanced=False)
    by_row = pick(vectors, 10, ids=ids, groups=groups, mass=np.array([float(g == "x") for g in groups]), balanced=False)

    assert by_group.ids == by_row.ids
    assert by_group.ids != pick(vectors, 10, ids=ids, groups=groups, balanced=False).ids


def test_shares_follow_the_mode():
    """Benchmarks, prompts or categories the same, or the user's own with 1 for the rest."""
    names, sizes, categories = np.array(["a", "b", "c"]), np.array([1.0, 2, 7]), np.array(["k", "k", "l"])

    assert np.allclose([1 / 3] * 3, group_shares("macro", names, sizes, categories))
    assert np.allclose([0.1, 0.2, 0.7], group_shares("micro", names, sizes, categories))
    assert np.allclose([0.25, 0.25, 0.5], group_shares("category", names, sizes, categories))
    assert np.allclose([0.5, 0.25, 0.25], group_shares({"a": 2}, names, sizes, categories))


def bad_rows(value: float) -> np.ndarray:
    vectors = pool()[0]
    vectors[4] = value
    return vectors


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"k": 81}, "cannot pick 81 of 80"),
        ({"k": 0}, "cannot pick 0"),
        ({"vectors": bad_rows(np.nan)}, "not finite: 4"),
        ({"vectors": bad_rows(1e300)}, "not finite: 4"),
        ({"vectors": bad_rows(0.0)}, "all zeros: 4"),
        ({"vectors": np.zeros(5)}, "shape"),
        ({"vectors": np.array([["a"]])}, "real numbers"),
        ({"ids": ["same"] * 80}, "twice: same"),
        ({"groups": ["x"] * 79}, "one value a row"),
        ({"include": ["99"]}, "unknown ids: 99"),
        ({"include": ["1"], "exclude": ["1"]}, "both included and excluded: 1"),
        ({"include": ["1", "2", "3"], "k": 2}, "more than k = 2"),
        ({"exclude": [str(row) for row in range(77)]}, "77 excluded"),
        ({"method": "facility_locatoin"}, "Did you mean 'facility_location'"),
        ({"mass": "makro"}, "unknown mass 'makro'"),
        ({"mass": {"nowhere": 1.0}}, "nowhere"),
        ({"mass": np.zeros(80)}, "not all zero"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments: dict[str, object], told: str):
    """Naming the ids, the figures or the nearest right word."""
    with pytest.raises(UsageError) as error:
        pick(**{"vectors": pool()[0], "k": 5, **arguments})

    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_thousand_rows_are_picked_from_cold_within_three_seconds_and_without_heavy_libraries():
    """In a new process, import included."""
    script = """
import time; started = time.perf_counter()
import numpy, sys
from benchcore.methods.pick import pick
rows = numpy.random.default_rng(0).normal(size=(1000, 384)).astype("float32")
assert pick(rows, 100, groups=[str(row % 40) for row in range(1000)]).value > 0
assert not {"scipy", "sklearn", "ray", "pyspark", "torch", "pyarrow"} & set(sys.modules), "heavy import"
print(time.perf_counter() - started)
"""
    seconds = float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)

    assert seconds < 3
