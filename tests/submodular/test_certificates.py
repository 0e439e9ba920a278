"""A certificate is never below the optimum, at any prefix, for any constraint."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy, with_landmarks_beyond
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.quantise import integer_mass, quantise
from benchcore.submodular.similarities.dot import DotSimilarity
from tests.submodular.feasible import KINDS, Problem, problem
from tests.submodular.planted import Coverage, coverage


def best(case: Problem, objective: Coverage, sets: list[tuple[int, ...]]) -> float:
    return max(objective.of((*picks, *case.include.tolist())) for picks in sets)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 9999), by_cost=st.booleans())
@settings(max_examples=50)
def test_no_set_is_worth_more(kind: str, seed: int, by_cost: bool):
    """Brute force over all feasible sets and, at each prefix, all that could stand in for it."""
    case, objective = problem(seed, kind), coverage(seed, 8)
    run = lazy_greedy(objective.fresh(), case.constraint(), case.include, by_cost=by_cost)
    given = len(case.include)

    certificate = certify(run, objective, case.constraint(), given)

    assert certificate is not None
    assert best(case, objective, case.feasible()) <= certificate.bound
    assert run.gains.sum() <= certificate.bound
    assert len(run.order) == len(certificate.prefixes)
    assert run.gains[:given].cumsum().tolist() == certificate.prefixes[:given].tolist()
    parts = case.parts()
    for size in range(given + 1, len(run.order) + 1):
        if case.has_budget:
            spent = case.costs[run.order[given:size]].sum()
            rivals = [part for part in parts if case.costs[list(part)].sum() <= spent]
        else:
            rivals = [part for part in parts if len(part) == size - given]
        assert best(case, objective, rivals) <= certificate.prefixes[size - 1]


@given(seed=st.integers(0, 9999))
@settings(max_examples=50)
def test_what_rounding_may_add_is_in_the_bound(seed: int):
    """Gains that rise by up to the slack, added up pick by pick along the best order of every set."""
    objective = coverage(seed, 6, wobble=3.0)
    available, best_value = np.ones(6, bool), 0.0
    for order in itertools.permutations(range(6), 3):
        grown, value = objective.fresh(), 0.0
        for pick in order:
            value += grown.gains(np.array([pick]))[0]
            grown.add(pick)
        best_value = max(best_value, value)
    run = lazy_greedy(objective.fresh(), Cardinality(available, 3))
    certificate = certify(run, objective, Cardinality(available, 3))

    assert certificate is not None
    assert best_value <= certificate.bound


def test_it_is_tight_where_greedy_is_best():
    """Disjoint candidates: the bound is the optimum, and the ratio 1."""
    objective = Coverage(np.eye(6, dtype=bool), np.arange(1.0, 7.0))

    certificate = certify(
        lazy_greedy(objective.fresh(), Cardinality(np.ones(6, bool), 3)), objective, Cardinality(np.ones(6, bool), 3)
    )

    assert certificate is not None
    assert (certificate.bound, certificate.ratio) == (15.0, 1.0)
    assert certificate.prefixes.tolist() == [6.0, 11.0, 15.0]


def test_includes_are_taken_before_the_bound_is_asked_for():
    """In rounds an include of the first group leaves the only further pick to the second."""
    objective, groups = Coverage(np.eye(3, dtype=bool), np.array([1.0, 5.0, 2.0])), np.array([0, 0, 1])
    available, include = np.array([False, True, True]), np.array([0])
    run = lazy_greedy(objective.fresh(), Rounds(groups, available, 1), include)

    certificate = certify(run, objective, Rounds(groups, available, 1), 1)

    assert certificate is not None
    assert (certificate.bound, certificate.prefixes.tolist()) == (3.0, [1.0, 3.0])


@given(seed=st.integers(0, 9999), kind=st.sampled_from(KINDS))
@settings(max_examples=40)
def test_facility_location_is_certified(seed: int, kind: str):
    """The objective that is used most, with duplicates, against all feasible sets; lazy picks are the naive ones."""
    case, random = problem(seed, kind), np.random.default_rng(seed)
    vectors = random.normal(size=(8, 3)).astype(np.float32)
    vectors[random.integers(0, 8, 3)] = vectors[random.integers(0, 8, 3)]
    similarity = DotSimilarity(quantise(vectors, np.zeros(3)))
    objective = FacilityLocation(similarity, integer_mass(random.dirichlet(np.ones(8)), np.zeros(8, np.int64)))
    run = lazy_greedy(objective.fresh(), case.constraint(), case.include)
    certificate = certify(run, objective, case.constraint(), len(case.include))

    def worth(picks: tuple[int, ...]) -> float:
        state = objective.fresh()
        for pick in (*case.include.tolist(), *picks):
            state.add(pick)
        return state.value

    assert certificate is not None
    assert max(worth(picks) for picks in case.feasible()) <= certificate.bound
    assert run.order.tolist() == naive_greedy(objective.fresh(), case.constraint(), case.include).order.tolist()


@pytest.mark.parametrize("objective", [coverage(3, 8, priced=True), coverage(3, 8, wobble=np.inf)])
def test_there_is_none_where_the_bound_is_not_known_to_hold(objective: Coverage):
    """Not monotone, or not submodular."""
    assert not objective.monotone or np.isinf(objective.slack)
    run = lazy_greedy(objective.fresh(), Cardinality(np.ones(8, bool), 3))

    assert certify(run, objective, Cardinality(np.ones(8, bool), 3)) is None


def test_there_is_none_without_landmarks():
    """The naive run keeps none."""
    objective = coverage(0, 8)
    run = naive_greedy(objective.fresh(), Cardinality(np.ones(8, bool), 3))

    assert certify(run, objective, Cardinality(np.ones(8, bool), 3)) is None


def test_no_picks_at_all():
    """The optimum of nothing is nothing."""
    objective = coverage(0, 8)
    run = lazy_greedy(objective.fresh(), Cardinality(np.ones(8, bool), 0))

    certificate = certify(run, objective, Cardinality(np.ones(8, bool), 0))

    assert certificate is not None
    assert (certificate.bound, certificate.ratio, len(certificate.prefixes)) == (0.0, 1.0, 0)


@pytest.mark.parametrize("seed", range(8))
def test_landmarks_beyond_the_picks_tighten_the_bound_and_keep_it_above_the_optimum(seed: int):
    """Brute force over all pairs of a small pool; the run itself is left as it was."""
    objective, available = coverage(seed, 9), np.ones(9, bool)
    run = lazy_greedy(objective, Cardinality(available, 2))
    optimum = 0.0
    for pair in itertools.combinations(range(9), 2):
        state = objective.fresh()
        for candidate in pair:
            state.add(candidate)
        optimum = max(optimum, state.value)

    longer = with_landmarks_beyond(run, objective)
    plain, tight = (certify(each, objective, Cardinality(available, 2)) for each in (run, longer))

    assert longer.order.tolist() == run.order.tolist()
    assert len(longer.landmarks) > len(run.landmarks)
    assert plain is not None and tight is not None
    assert optimum <= tight.bound <= plain.bound
