"""Laws that every objective passes, on data full of duplicates, orthogonal rows and rows that are worth nothing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from tests.submodular.objectives.cases import CASES, Case
from tests.submodular.objectives.instances import KINDS, Instance, instance, instances

every = pytest.mark.parametrize("case", CASES, ids=str)
submodular = pytest.mark.parametrize("case", [case for case in CASES if case.submodular], ids=str)
few = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 999)


def grown(objective: Objective, picks: list[int]) -> Objective:
    objective = objective.fresh()
    for pick in picks:
        objective.add(pick)
    return objective


def others(n: int, picks: list[int]) -> np.ndarray:
    return np.setdiff1d(np.arange(n), picks)


def any_set(seed: int, n: int) -> list[int]:
    random = np.random.default_rng(seed)
    return random.permutation(n)[: random.integers(0, n + 1)].tolist()


def at_most(n: int, k: int) -> Cardinality:
    return Cardinality(np.ones(n, bool), k)


def optimum(case: Case, data: Instance, k: int) -> float:
    """Of at most k picks, by trying all."""
    sets = itertools.chain.from_iterable(itertools.combinations(range(data.n), size) for size in range(k + 1))
    return max(case.reference(data, list(picks)) for picks in sets)


@every
@few
@given(data=instances(), seed=seeds)
def test_values_and_gains_are_those_of_the_formula(case: Case, data: Instance, seed: int):
    """At any set, up to the rounding to whole numbers."""
    picks = any_set(seed, data.n)
    objective = grown(case.build(data), picks)
    rest = others(data.n, picks)
    value = case.reference(data, picks)
    expected = [case.reference(data, [*picks, candidate]) - value for candidate in rest.tolist()]

    assert abs(objective.value / objective.unit - value) <= case.quantised
    assert np.allclose(expected, objective.gains(rest) / objective.unit, rtol=0, atol=2 * case.quantised)


@every
@few
@given(data=instances(), seed=seeds)
def test_gains_are_differences_of_the_value(case: Case, data: Instance, seed: int):
    """To the last bit where values are whole numbers, and nearly everywhere."""
    picks = any_set(seed, data.n)
    objective = grown(case.build(data), picks)
    rest = others(data.n, picks)
    differences = [grown(objective, [*picks, candidate]).value - objective.value for candidate in rest.tolist()]
    exact = case.whole and objective.total() <= 2**53
    room = 0.0 if exact else 1e-11 * max(objective.unit, abs(objective.total()))

    assert np.allclose(differences, objective.gains(rest), rtol=0, atol=room)


@every
@few
@given(data=instances(), seed=seeds)
def test_a_gain_depends_on_the_set_and_the_candidate_alone(case: Case, data: Instance, seed: int):
    """Not on what else is asked, nor on the order of questions, nor on that in which the set grew."""
    picks, random = any_set(seed, data.n), np.random.default_rng(seed)
    objective = grown(case.build(data), picks)
    rest = random.permutation(others(data.n, picks))
    gains = objective.gains(rest)

    assert np.array_equal(gains, [objective.gains(np.array([candidate]))[0] for candidate in rest])
    assert np.array_equal(gains[::-1], objective.gains(rest[::-1]))
    assert np.array_equal(gains, grown(objective, picks).gains(rest))
    if case.order_free:
        again = grown(objective, random.permutation(picks).astype(int).tolist())
        assert np.array_equal(gains, again.gains(rest))
        assert objective.value == again.value


@every
@few
@given(data=instances(), seed=seeds)
def test_rows_in_another_order_give_the_same_bits(case: Case, data: Instance, seed: int):
    """Candidates keep their gains wherever they stand."""
    order = np.random.default_rng(seed).permutation(data.n)
    place = np.argsort(order)
    picks = any_set(seed, data.n)
    rest = others(data.n, picks)
    here, there = grown(case.build(data), picks), grown(case.build(data.permuted(order)), place[picks].tolist())

    assert np.array_equal(here.gains(rest), there.gains(place[rest]))
    assert here.value == there.value


@submodular
@few
@given(data=instances(), seed=seeds)
def test_returns_diminish(case: Case, data: Instance, seed: int):
    """A larger set gains no more, but for the slack, which is next to nothing."""
    larger = any_set(seed, data.n)
    smaller = larger[: np.random.default_rng(seed + 1).integers(0, len(larger) + 1)]
    objective = case.build(data)
    rest = others(data.n, larger)
    before, after = grown(objective, smaller).gains(rest), grown(objective, larger).gains(rest)

    assert 0 <= objective.slack <= 1e-6 * objective.unit
    assert (after <= before + objective.slack).all()


@every
def test_what_is_not_submodular_says_so(case: Case):
    """By an infinite slack, and only then."""
    assert case.submodular == math.isfinite(case.build(instance(1, 6)).slack)


@every
@few
@given(data=instances(), seed=seeds)
def test_what_is_monotone_never_falls(case: Case, data: Instance, seed: int):
    """No gain is negative at any set, where the objective says so."""
    objective = case.build(data)
    for pick in np.random.default_rng(seed).permutation(data.n).tolist() if objective.monotone else []:
        assert objective.gains(np.array([pick]))[0] >= 0
        objective.add(pick)


@every
@few
@given(data=instances(most=24), seed=seeds)
def test_lazy_greedy_picks_as_the_naive_one(case: Case, data: Instance, seed: int):
    """Pick by pick and bit by bit, ties included, after any includes."""
    include = np.array(any_set(seed, data.n)[:2], np.int64)
    available = np.ones(data.n, bool)
    available[include] = False
    k = int(np.random.default_rng(seed).integers(0, data.n - len(include) + 1))
    naive = naive_greedy(case.build(data), Cardinality(available, k), include)
    lazy = lazy_greedy(case.build(data), Cardinality(available, k), include)

    assert naive.order.tolist() == lazy.order.tolist()
    assert naive.gains.tolist() == lazy.gains.tolist()


@pytest.mark.parametrize("kind", KINDS)
@every
def test_lazy_greedy_picks_as_the_naive_one_from_many(case: Case, kind: str):
    """Also where not all gains are measured at once."""
    data = instance(7, 160, kind)
    naive = naive_greedy(case.build(data), at_most(data.n, 40))
    lazy = lazy_greedy(case.build(data), at_most(data.n, 40))

    assert naive.order.tolist() == lazy.order.tolist()
    assert naive.gains.tolist() == lazy.gains.tolist()


@submodular
@few
@given(data=instances(most=8), k=st.integers(1, 3))
def test_greedy_is_within_its_guarantee_of_the_optimum(case: Case, data: Instance, k: int):
    """At least 1 - 1/e of it, where the objective is monotone."""
    objective = case.build(data)
    if objective.monotone:
        best = optimum(case, data, k)
        lazy_greedy(objective, at_most(data.n, k))

        assert objective.value / objective.unit >= (1 - 1 / math.e) * best - case.quantised


@every
@few
@given(data=instances(most=8), k=st.integers(1, 3))
def test_certificates_never_fall_below_the_optimum(case: Case, data: Instance, k: int):
    """At every prefix and in the end; and there is none where the bound would not hold."""
    objective = case.build(data)
    run = lazy_greedy(objective, at_most(data.n, k))
    certificate = certify(run, objective, at_most(data.n, k))
    assert (certificate is not None) == (case.submodular and objective.monotone)
    if certificate is not None:
        optima = [optimum(case, data, size) for size in range(1, len(run.order) + 1)]
        assert (certificate.prefixes / objective.unit >= np.array(optima) - k * case.quantised).all()
        assert certificate.bound / objective.unit >= optima[-1] - k * case.quantised
        assert certificate.ratio * optima[-1] <= objective.value / objective.unit + k * case.quantised


@submodular
@few
@given(data=instances(most=8), k=st.integers(1, 3))
def test_the_first_landmark_bounds_the_optimum(case: Case, data: Instance, k: int):
    """By the k largest gains at the empty set, also where gains may be negative."""
    first = lazy_greedy(case.build(data), at_most(data.n, k)).landmarks[0]
    bound = first.value + np.sort(np.maximum(first.bounds, 0))[-k:].sum()

    assert bound / case.build(data).unit >= optimum(case, data, k) - k * case.quantised


@every
@few
@given(data=instances(), seed=seeds)
def test_tightened_bounds_stay_above_the_gains(case: Case, data: Instance, seed: int):
    """And never rise."""
    picks = any_set(seed, data.n)
    objective = grown(case.build(data), picks)
    rest = others(data.n, picks)
    gains = objective.gains(rest)
    bounds = np.full(data.n, np.inf)
    bounds[rest] = gains + np.random.default_rng(seed).choice([0.0, objective.unit], len(rest))
    before = bounds.copy()
    lowered = objective.tighten(bounds)

    assert (gains <= bounds[rest]).all()
    assert (bounds <= before).all()
    assert lowered or np.array_equal(before, bounds)


@every
@few
@given(data=instances())
def test_the_empty_set_is_worth_nothing_and_all_of_them_the_total(case: Case, data: Instance):
    """Exactly the one; the other up to rounding, and exactly where values are whole."""
    objective = case.build(data)
    assert objective.value == 0
    assert objective.fresh().value == 0

    total = objective.total()
    everything = grown(objective, list(range(data.n)))
    room = 0.0 if case.whole else 1e-9 * max(objective.unit, abs(total))
    assert abs(total - everything.value) <= room
    assert objective.value == 0


@every
@few
@given(data=instances())
def test_all_can_be_picked(case: Case, data: Instance):
    """k = n, once each, worth the sum of the gains."""
    objective = case.build(data)
    run = lazy_greedy(objective, at_most(data.n, data.n))
    room = 1e-9 * max(objective.unit, abs(objective.value))

    assert sorted(run.order.tolist()) == list(range(data.n))
    assert abs(objective.value - run.gains.sum()) <= room


@pytest.mark.parametrize("kind", ["clustered", "useless"])
@every
def test_a_single_item(case: Case, kind: str):
    """It is picked, and is worth its gain."""
    data = instance(5, 1, kind)
    objective = case.build(data)
    gain = float(objective.gains(np.array([0]))[0])
    run = lazy_greedy(objective, at_most(1, 1))

    assert run.order.tolist() == [0]
    assert run.gains.tolist() == [gain]
    assert math.isclose(gain, objective.value, rel_tol=1e-11)
    assert math.isclose(gain / objective.unit, case.reference(data, [0]), abs_tol=case.quantised)


@pytest.mark.parametrize("kind", ["identical", "useless"])
@every
def test_equal_rows_are_picked_in_index_order(case: Case, kind: str):
    """Also when they gain nothing more, until the budget is full."""
    run = lazy_greedy(case.build(instance(3, 90, kind)), at_most(90, 80))

    assert run.order.tolist() == list(range(80))
    assert kind != "useless" or not run.gains.any()


@every
@few
@given(data=instances(), seed=seeds)
def test_a_fresh_one_shares_nothing_that_changes(case: Case, data: Instance, seed: int):
    """What happens to one of the two, the other does not see."""
    picks = any_set(seed, data.n)
    first = grown(case.build(data), picks)
    rest = others(data.n, picks)
    gains, value = first.gains(rest), first.value
    second = first.fresh()
    at_first = case.build(data).gains(np.arange(data.n))
    assert np.array_equal(at_first, second.gains(np.arange(data.n)))
    for candidate in reversed(range(data.n)):
        second.add(candidate)

    assert np.array_equal(gains, first.gains(rest))
    assert value == first.value
    assert first.fresh().value == 0
    assert np.array_equal(at_first, first.fresh().gains(np.arange(data.n)))
