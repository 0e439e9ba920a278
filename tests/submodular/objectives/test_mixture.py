"""Mixtures of objectives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.objectives.feature_based import FeatureBased
from benchcore.submodular.objectives.graph_cut import GraphCut
from benchcore.submodular.objectives.mixture import Mixture
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from tests.submodular.objectives.instances import instance
from tests.submodular.planted import Coverage, coverage


@pytest.mark.parametrize("weight", [1.0, 0.3, 17.0])
def test_a_mixture_of_one_picks_as_that_one(weight: float):
    """Its gains are the part's, times the weight, in its own terms."""
    data = instance(2, 60)
    alone, mixed = (FacilityLocation(data.similarity, data.mass) for _ in range(2))
    mixture = Mixture([(weight, mixed)])
    expected = lazy_greedy(alone, Cardinality(np.ones(60, bool), 10))
    run = lazy_greedy(mixture, Cardinality(np.ones(60, bool), 10))

    assert expected.order.tolist() == run.order.tolist()
    assert np.allclose(weight * expected.gains / alone.unit, run.gains / mixture.unit, rtol=0, atol=1e-12)
    assert mixture.value / mixture.unit == pytest.approx(weight * alone.value / alone.unit, abs=1e-12)


def test_the_parts_that_were_given_stay_as_they_were():
    """They are taken afresh, also where one is given twice."""
    data = instance(2, 8)
    part = FacilityLocation(data.similarity, data.mass)
    part.add(3)
    value = part.value
    mixture = Mixture([(1.0, part), (1.0, part)])
    assert mixture.value == 0
    mixture.add(3)

    assert part.value == value
    assert mixture.value / mixture.unit == pytest.approx(2 * value / part.unit, abs=1e-11)


def test_it_is_monotone_where_all_its_parts_are():
    """A part of no weight has no say."""
    data = instance(1, 10)
    falling, rising = GraphCut(data.similarity, data.mass, 5.0), FeatureBased(data.features)

    assert not falling.monotone
    assert Mixture([(0.0, falling), (1.0, rising)]).monotone
    assert not Mixture([(0.1, falling), (1.0, rising)]).monotone


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), n=st.integers(3, 12), wobble=st.sampled_from([0.0, 1e-9, 0.01, 2.0]))
def test_slack_covers_what_parts_and_rounding_add(seed: int, n: int, wobble: float):
    """Where a part's gains may rise by a little, the mixture's rise by no more than it says, and lazy stays naive."""
    parts: list[tuple[float, Coverage]] = [(0.7, coverage(seed, n, wobble=wobble)), (3.3, coverage(seed + 1, n))]
    mixture = Mixture(parts)
    before = mixture.gains(np.arange(n))
    assert mixture.slack <= (0.7 * wobble + 1e-11) * mixture.unit
    assert (mixture.slack == 0) == (wobble == 0)
    for pick in range(n - 1):
        mixture.add(pick)
        after = mixture.gains(np.arange(pick + 1, n))
        assert (after <= before[pick + 1 :] + mixture.slack).all()
        before[pick + 1 :] = after
    naive = naive_greedy(mixture.fresh(), Cardinality(np.ones(n, bool), n // 2))
    lazy = lazy_greedy(mixture.fresh(), Cardinality(np.ones(n, bool), n // 2))

    assert naive.order.tolist() == lazy.order.tolist()


def test_a_part_that_is_not_submodular_makes_the_mixture_so():
    """Infinity stays infinity; a part of no weight has no say."""
    parts = coverage(1, 5, wobble=np.inf), coverage(2, 5)

    assert Mixture([(0.1, parts[0]), (1.0, parts[1])]).slack == np.inf
    assert Mixture([(0.0, parts[0]), (1.0, parts[1])]).slack == 0


def test_only_parts_of_no_weight_are_worth_nothing():
    """And the budget is filled all the same."""
    mixture = Mixture([(0.0, coverage(1, 5))])
    run = lazy_greedy(mixture, Cardinality(np.ones(5, bool), 3))

    assert run.order.tolist() == [0, 1, 2]
    assert mixture.value == 0 == mixture.total()


def test_weights_that_are_too_large_to_add_exactly_are_refused():
    """With the remedy."""
    with pytest.raises(ValueError, match="divide its weights"):
        Mixture([(1e9, coverage(1, 5))]).gains(np.arange(5))


def test_gains_are_whole_and_add_up_in_any_order_of_the_parts():
    """Whatever the weights."""
    data = instance(9, 20)
    parts = [(1 / 3, FacilityLocation(data.similarity, data.mass)), (0.7, FeatureBased(data.features, concave="log"))]
    one, other = Mixture([*parts, (np.pi, parts[1][1])]), Mixture([(np.pi, parts[1][1]), *parts])
    for pick in (4, 11):
        one.add(pick)
        other.add(pick)
    gains = one.gains(np.arange(12, 20))

    assert np.array_equal(gains, np.rint(gains))
    assert np.array_equal(gains, other.gains(np.arange(12, 20)))


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_negative_or_no_number_are_refused(weight: float):
    """With the part."""
    with pytest.raises(ValueError, match="part 1"):
        Mixture([(1.0, coverage(1, 5)), (weight, coverage(1, 5))])


def test_parts_of_different_candidates_are_refused():
    """With how many each has; and no parts at all."""
    with pytest.raises(ValueError, match=r"\[5, 6\]"):
        Mixture([(1.0, coverage(1, 5)), (1.0, coverage(1, 6))])
    with pytest.raises(ValueError, match="at least one"):
        Mixture([])
