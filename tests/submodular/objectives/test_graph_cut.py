"""Graph cut: the literature's, when it is monotone, planted picks, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.graph_cut import GraphCut
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.quantise import NORM, UNIT
from benchcore.submodular.similarities.dot import DotSimilarity
from tests.submodular.objectives.instances import Instance, instance, instances

redundancies = st.sampled_from([0.0, 0.3, 0.5, 0.501, 0.7, 1.0, 2.5])


@settings(max_examples=40, deadline=None)
@given(data=instances(), redundancy=redundancies, seed=st.integers(0, 99))
def test_with_equal_masses_it_is_the_literatures_up_to_a_factor(data: Instance, redundancy: float, seed: int):
    """sum_{i, j in A} s_ij - lambda sum_{i in A, j in A} s_ij, times the mass of one row."""
    picks = np.random.default_rng(seed).permutation(data.n)[: data.n // 2]
    objective = GraphCut(data.similarity, np.full(data.n, 3.0), redundancy)
    for pick in picks.tolist():
        objective.add(pick)
    similar = data.cosines * UNIT
    literature = similar[:, picks].sum() - redundancy * similar[np.ix_(picks, picks)].sum()

    assert objective.value == pytest.approx(3.0 * literature, rel=1e-12, abs=1e-3)
    assert objective.value / objective.unit == pytest.approx(literature / UNIT / data.n, rel=1e-12, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(data=instances(most=7), redundancy=redundancies)
def test_it_is_monotone_exactly_where_it_says_so(data: Instance, redundancy: float):
    """By the gains of all candidates at all sets, whatever the masses."""
    objective = GraphCut(data.similarity, data.mass, redundancy)
    least = np.inf
    for size in range(data.n):
        for picks in itertools.combinations(range(data.n), size):
            grown = objective.fresh()
            for pick in picks:
                grown.add(pick)
            least = min(least, grown.gains(np.setdiff1d(np.arange(data.n), picks)).min())

    assert objective.monotone == (least >= 0)


@settings(max_examples=30, deadline=None)
@given(data=instances(), redundancy=st.floats(0, 0.5))
def test_with_equal_masses_it_is_monotone_up_to_a_half(data: Instance, redundancy: float):
    """Rounding included."""
    assert GraphCut(data.similarity, np.full(data.n, 7.0), redundancy).monotone


def test_beyond_a_half_it_may_fall_and_returns_still_diminish():
    """Equal rows: with lambda = 1 picking all of them is worth nothing, half of them the most."""
    rows = np.repeat(np.array([[NORM, 0]], np.float32), 10, axis=0)
    objective = GraphCut(DotSimilarity(rows), np.ones(10), 1.0)
    run = lazy_greedy(objective, Cardinality(np.ones(10, bool), 10))

    assert not objective.monotone
    assert run.gains.tolist() == [UNIT * (9 - 2 * picked) for picked in range(10)]
    assert objective.value == 0 == objective.total()


def test_redundancy_spreads_the_picks():
    """Without it all picks come from the largest group; with it one from each of the large ones."""
    rows = np.repeat(np.eye(3, dtype=np.float32) * NORM, [10, 9, 8], axis=0)

    def picks(redundancy: float) -> list[int]:
        objective = GraphCut(DotSimilarity(rows), np.ones(27), redundancy)
        return lazy_greedy(objective, Cardinality(np.ones(27, bool), 3)).order.tolist()

    assert picks(0.0) == [0, 1, 2]
    assert picks(1.5) == [0, 10, 19]


def test_a_value_beyond_double_precision_is_rounded_only_when_it_is_read():
    """Both sums are integers of any size."""
    rows = np.repeat(np.array([[NORM - 1, 3]], np.float32), 200, axis=0)
    objective = GraphCut(DotSimilarity(rows), np.full(200, 2_684_353.0), 0.25)
    for candidate in range(200):
        objective.add(candidate)
    similar = (NORM - 1) ** 2 + 9
    exact = 200 * 200 * 2_684_353 * similar - (200 * 200 * 2_684_353 * similar) // 4

    assert exact > 2**53
    assert objective.value == pytest.approx(exact, rel=1e-15)
    assert objective.value == objective.total()


@pytest.mark.parametrize("redundancy", [-0.1, np.nan, np.inf])
def test_a_redundancy_that_is_negative_or_no_number_is_refused(redundancy: float):
    """It would reward equal picks."""
    with pytest.raises(ValueError, match="redundancy"):
        GraphCut(instance(0, 3).similarity, np.ones(3), redundancy)


def test_similarities_to_other_rows_than_the_candidates_are_refused():
    """Picks are compared with each other."""
    data = instance(0, 3)
    with pytest.raises(ValueError, match="symmetric"):
        GraphCut(DotSimilarity(data.rows, data.queries), np.ones(2), 0.5)


def test_similarities_that_may_be_negative_are_refused():
    """Returns would not diminish."""
    with pytest.raises(ValueError, match="not negative"):
        GraphCut(DotSimilarity(instance(0, 3).rows, clipped=False), np.ones(3), 0.5)


def test_masses_that_are_not_whole_are_refused():
    """Sums would not be exact."""
    with pytest.raises(ValueError, match=r"mass\[0\] = 0.5"):
        GraphCut(instance(0, 2).similarity, np.array([0.5, 0.5]), 0.5)
