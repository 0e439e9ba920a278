"""The best affordable set, and the fewest picks for a share of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.constraints.knapsack import Knapsack
from benchcore.submodular.optimizers.cover import cover
from benchcore.submodular.optimizers.knapsack import knapsack_greedy
from benchcore.submodular.optimizers.lazy import lazy_greedy
from tests.submodular.feasible import KINDS, problem
from tests.submodular.planted import Coverage, coverage

DEAR, CHEAP = Coverage(np.eye(2, dtype=bool), np.array([1.0, 50.0])), np.array([0.01, 1.0])


def test_a_cheap_candidate_does_not_keep_out_a_dear_one():
    """By gain per cost the first is better; alone it is worth a fiftieth of the second, and both do not fit."""
    run = knapsack_greedy(DEAR, lambda: Knapsack(Cardinality(np.ones(2, bool), 2), CHEAP, 1.0))

    assert run.order.tolist() == [1]


def test_dear_candidates_do_not_keep_out_many_cheap_ones():
    """Plain greedy takes the dear one; by gain per cost there are ten."""
    objective = Coverage(np.eye(11, dtype=bool), np.array([*np.ones(10), 2.0]))
    costs = np.array([*np.ones(10), 10.0])

    run = knapsack_greedy(objective, lambda: Knapsack(Cardinality(np.ones(11, bool), 11), costs, 10.0))

    assert sorted(run.order.tolist()) == list(range(10))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.endswith("budget")])
@given(seed=st.integers(0, 9999))
@settings(max_examples=40)
def test_it_is_the_better_of_both_runs_and_certified(kind: str, seed: int):
    """Neither run is worth more, and no feasible set more than the bound of the landmarks of both."""
    case, objective = problem(seed, kind), coverage(seed, 8)
    include = tuple(case.include.tolist())

    run = knapsack_greedy(objective, case.constraint, case.include)
    certificate = certify(run, objective, case.constraint(), len(include))

    for by_cost in (True, False):
        single = lazy_greedy(objective.fresh(), case.constraint(), case.include, by_cost=by_cost)
        assert single.gains.sum() <= run.gains.sum()
    assert certificate is not None
    assert max(objective.of((*picks, *include)) for picks in case.feasible()) <= certificate.bound


def test_a_knapsack_needs_costs():
    """A constraint without them has nothing to divide by."""
    with pytest.raises(ValueError, match="needs costs"):
        knapsack_greedy(coverage(0, 4), lambda: Cardinality(np.ones(4, bool), 2))


@pytest.mark.parametrize("kind", ["cardinality", "rounds"])
@given(seed=st.integers(0, 9999), share=st.sampled_from([0.0, 0.3, 0.8, 1.0]))
@settings(max_examples=40)
def test_no_smaller_set_covers(kind: str, seed: int, share: float):
    """The last pick was needed in the order, and the bound on the fewest is never above the true fewest."""
    case, objective = problem(seed, kind), coverage(seed, 8)
    include = tuple(case.include.tolist())

    found = cover(objective, case.constraint, share, case.include)

    target = share * objective.total()
    enough = [len(part) + len(include) for part in case.parts() if objective.of((*part, *include)) >= target]
    assert target == found.target
    assert found.reached == (found.run.gains.sum() >= target)
    if enough:
        assert found.fewest <= min(enough)
    if found.reached:
        assert found.fewest <= len(found.run.order)
        assert found.run.gains[:-1].sum() < target or len(found.run.order) == len(include)
    else:
        assert len(found.run.order) == len(include) + min(case.further, case.available.sum())


def test_the_fewest_is_exact_where_greedy_is():
    """Disjoint candidates of weights 1 to 9: 24 of 45 needs three."""
    objective = Coverage(np.eye(9, dtype=bool), np.arange(1.0, 10.0))

    found = cover(objective, lambda: Cardinality(np.ones(9, bool), 9), 24 / 45)

    assert (len(found.run.order), found.fewest, found.reached) == (3, 3, True)


def test_an_inexact_objective_reaches_its_total():
    """Its sums may end a hair below the total, which is no reason to go on."""
    objective = Coverage(np.eye(9, dtype=bool), np.array([0.1] * 9), wobble=1e-12)

    found = cover(objective, lambda: Cardinality(np.ones(9, bool), 9), 1.0)

    assert found.reached


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_a_share_is_a_share(share: float):
    """Of the whole: not more, not less than nothing."""
    with pytest.raises(ValueError, match="share"):
        cover(coverage(0, 5), lambda: Cardinality(np.ones(5, bool), 5), share)


def test_what_cover_cannot_do_is_refused():
    """A budget, and an objective that may fall."""
    with pytest.raises(ValueError, match="monotone"):
        cover(coverage(3, 8, priced=True), lambda: Cardinality(np.ones(8, bool), 5), 0.9)
    with pytest.raises(ValueError, match="not costs"):
        cover(DEAR.fresh(), lambda: Knapsack(Cardinality(np.ones(2, bool), 2), CHEAP, 1.0), 0.9)
