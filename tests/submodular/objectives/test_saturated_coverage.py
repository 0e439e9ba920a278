"""Saturated coverage: planted optima, whole numbers beyond double precision, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.saturated_coverage import SaturatedCoverage
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.pairs import tiles
from benchcore.submodular.quantise import NORM, TOTAL_MASS, UNIT
from benchcore.submodular.similarities.dot import DotSimilarity
from tests.submodular.objectives.instances import Instance, instance, instances


def groups(*sizes: int) -> np.ndarray:
    """Rows that are equal within a group and orthogonal between groups."""
    return np.repeat(np.eye(len(sizes), dtype=np.float32) * NORM, sizes, axis=0)


def test_a_planted_optimum_is_found():
    """With ceilings at one pick of each group, the best picks are one of each group, the largest first."""
    sizes = (10, 40, 20, 30)
    similarity = DotSimilarity(groups(*sizes))
    # A ceiling is a share of a row's group: a 40th saturates the largest group with one pick and no other.
    objective = SaturatedCoverage(similarity, np.ones(100), 1 / 40)
    run = lazy_greedy(objective, Cardinality(np.ones(100, bool), 4))

    assert run.order.tolist() == [10, 70, 50, 0]
    assert run.gains.tolist() == [40 * UNIT, 30 * (UNIT * 30 // 40), 20 * (UNIT * 20 // 40), 10 * (UNIT * 10 // 40)]
    assert objective.value == objective.total()
    assert objective.value / objective.unit == pytest.approx((40 + 30 * 0.75 + 20 * 0.5 + 10 * 0.25) / 100)


def test_without_saturation_every_pick_keeps_its_gain():
    """A share of 1 makes it a sum over picks."""
    data = instance(4, 30)
    objective = SaturatedCoverage(data.similarity, data.mass, 1.0)
    alone = objective.gains(np.arange(30))
    objective.add(3)
    objective.add(8)

    assert np.array_equal(np.delete(alone, [3, 8]), objective.gains(np.delete(np.arange(30), [3, 8])))
    assert objective.value == alone[3] + alone[8]


def test_a_value_beyond_double_precision_is_rounded_only_when_it_is_read():
    """Gains add up as integers of any size, and the total is the same number."""
    random = np.random.default_rng(0)
    rows = np.repeat(np.array([[NORM - 1.0, 3.0]], np.float32), 300, axis=0)
    mass = random.integers(0, TOTAL_MASS // 300, 300).astype(np.float64)
    objective = SaturatedCoverage(DotSimilarity(rows), mass, 1.0)
    for candidate in range(300):
        objective.add(candidate)
    exact = 300 * int(mass.sum()) * ((NORM - 1) ** 2 + 9)

    assert exact > 2**53
    assert exact != int(float(exact))
    assert objective.value == float(exact) == objective.total()


@settings(max_examples=30, deadline=None)
@given(data=instances(), queries=st.integers(1, 5), seed=st.integers(0, 99))
def test_represented_rows_may_differ_from_candidates(data: Instance, queries: int, seed: int):
    """Ceilings are shares of each represented row's similarity to all candidates."""
    random = np.random.default_rng(seed)
    represented = np.vstack([data.queries, data.avoid, data.rows])[random.integers(0, data.n + 4, queries)]
    mass = random.integers(1, 9, queries).astype(np.float64)
    objective = SaturatedCoverage(DotSimilarity(data.rows, represented), mass, 0.5)
    similar = np.maximum(data.rows.astype(np.int64) @ represented.astype(np.int64).T, 0)
    picks = random.permutation(data.n)[: data.n // 2]
    for pick in picks.tolist():
        objective.add(pick)

    assert objective.value == mass @ np.minimum(similar[picks].sum(axis=0), similar.sum(axis=0) // 2)


@pytest.mark.parametrize(("rows", "cells"), [(1, 1), (3, 7), (5, 10_000)])
def test_block_sizes_change_nothing(monkeypatch: pytest.MonkeyPatch, rows: int, cells: int):
    """Not one bit."""
    data = instance(3, 50)

    def gains() -> list[np.ndarray]:
        objective = SaturatedCoverage(data.similarity, data.mass, 0.3)
        found = []
        for pick in (7, 3, 30):
            objective.add(pick)
            found.append(objective.gains(np.arange(31, 50)))
        return found

    expected = gains()
    monkeypatch.setattr(tiles, "_ROWS", rows)
    monkeypatch.setattr(tiles, "_CELLS", cells)

    assert np.array_equal(expected, gains())


@pytest.mark.parametrize("saturation", [0.0, -1.0, 1.5, np.nan])
def test_a_saturation_that_is_no_share_is_refused(saturation: float):
    """NaN among them."""
    with pytest.raises(ValueError, match=r"above 0 and at most 1"):
        SaturatedCoverage(instance(0, 3).similarity, np.ones(3), saturation)


def test_similarities_that_may_be_negative_are_refused():
    """Returns would not diminish."""
    with pytest.raises(ValueError, match=r"not negative.*clip or shift"):
        SaturatedCoverage(DotSimilarity(instance(0, 3).rows, clipped=False), np.ones(3), 0.5)


@pytest.mark.parametrize(
    ("mass", "named"),
    [
        ([1.0, 2.0], "3 represented rows"),
        ([1.0, 0.5, -2.0], r"mass\[1\] = 0.5, mass\[2\] = -2.0"),
        ([1.0, np.nan, 2.0], r"mass\[1\] = nan"),
        ([0.0, 0.0, 0.0], "more than 0"),
        ([TOTAL_MASS, 1.0, 0.0], f"at most {TOTAL_MASS}"),
    ],
)
def test_masses_with_which_sums_would_not_be_exact_are_refused(mass: list[float], named: str):
    """With the rows that are at fault."""
    with pytest.raises(ValueError, match=named):
        SaturatedCoverage(instance(0, 3).similarity, np.array(mass), 0.5)


def test_the_first_pick_of_a_random_pool_is_the_best_single_one():
    """By brute force, for pairs as well within the guarantee of greedy."""
    data = instance(11, 9, "random")
    objective = SaturatedCoverage(data.similarity, data.mass, 0.2)
    values = {}
    for pair in itertools.combinations(range(9), 2):
        trial = objective.fresh()
        singles = [float(objective.gains(np.array([pick]))[0]) for pick in pair]
        for pick in pair:
            trial.add(pick)
        values[pair] = trial.value
        assert max(singles) <= trial.value <= sum(singles)
    run = lazy_greedy(objective, Cardinality(np.ones(9, bool), 2))

    assert run.gains[0] == objective.fresh().gains(np.arange(9)).max()
    assert run.gains.sum() >= (1 - 1 / np.e) * max(values.values())
