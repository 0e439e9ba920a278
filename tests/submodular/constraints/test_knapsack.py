"""A budget beside a constraint: what it refuses, and what it spends."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.constraints.knapsack import Knapsack
from benchcore.submodular.constraints.quotas import Quotas
from benchcore.submodular.constraints.rounds import Rounds

ALL = np.ones(4, bool)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_a_cost_that_is_no_price_is_named(wrong: float):
    """By its index."""
    with pytest.raises(ValueError, match=r"1 of 4 costs .* at indices 2 \("):
        Knapsack(Cardinality(ALL, 2), np.array([1.0, 2.0, wrong, 3.0]), 5.0)


@pytest.mark.parametrize(
    ("budget", "spent", "message"),
    [
        (0.5, 0.0, "nothing fits into a budget of 0.5: the cheapest candidate costs 1"),
        (np.inf, 0.0, "finite"),
        (np.nan, 0.0, "finite"),
        (5.0, -1.0, "not negative"),
        (5.0, 6.0, "includes cost 6, more than the budget of 5"),
    ],
)
def test_a_budget_that_buys_nothing_is_refused(budget: float, spent: float, message: str):
    """Before anything is picked."""
    with pytest.raises(ValueError, match=message):
        Knapsack(Cardinality(ALL, 2), np.array([1.0, 2.0, 3.0, 3.0]), budget, spent)


def test_one_cost_for_each_candidate():
    """A vector of another length is refused."""
    with pytest.raises(ValueError, match="each of 4 candidates, got 3"):
        Knapsack(Cardinality(ALL, 2), np.ones(3), 5.0)


def test_an_include_that_costs_too_much_is_refused():
    """Whether it is announced or taken."""
    available = np.array([False, True, True, True])
    constraint = Knapsack(Cardinality(available, 2), np.array([9.0, 1.0, 1.0, 1.0]), 5.0)

    with pytest.raises(ValueError, match="includes cost 9"):
        constraint.take(0)


def test_minima_that_cost_too_much_are_refused():
    """The cheapest way to meet them decides."""
    groups, costs = np.array([0, 0, 1, 1]), np.array([3.0, 4.0, 1.0, 1.0])
    low, high = np.array([2, 1]), np.array([2, 2])

    Knapsack(Quotas(groups, ALL, 3, low, high), costs, 8.0)
    with pytest.raises(ValueError, match=r"minima costs 8, but only 7\.9 "):
        Knapsack(Quotas(groups, ALL, 3, low, high), costs, 7.9)


def test_rounds_do_not_wait_for_a_group_that_is_too_dear():
    """Its candidates no longer fit, so that it has none."""
    constraint = Knapsack(Rounds(np.array([0, 0, 1, 1]), ALL, 4), np.array([1.0, 1.0, 2.0, 9.0]), 5.0)

    for pick in (0, 2):
        constraint.take(pick)
    assert np.flatnonzero(constraint.allowed()).tolist() == [1]
    constraint.take(1)

    assert not constraint.allowed().any()


def test_tenths_fill_a_budget_to_the_last():
    """Three prices of 0.1 make 0.30000000000000004, and fit into 0.3 all the same."""
    constraint = Knapsack(Cardinality(ALL, 4), np.full(4, 0.1), 0.3)

    for pick in range(3):
        assert constraint.allowed()[pick]
        constraint.take(pick)

    assert not constraint.allowed().any()


def test_the_callers_costs_are_left_alone():
    """Whole or read-only prices serve as well."""
    costs = np.array([1, 2, 3, 4])
    costs.flags.writeable = False

    constraint = Knapsack(Cardinality(ALL, 4), costs, 3)
    constraint.take(0)

    assert np.flatnonzero(constraint.allowed()).tolist() == [1]


def test_what_the_minima_cost_is_not_there_for_gains():
    """A worthless candidate has to be bought for eight of ten: what is left buys one of the two good ones."""
    groups, low, high = np.array([0, 1, 1]), np.array([1, 0]), np.array([1, 2])
    constraint = Knapsack(Quotas(groups, np.ones(3, bool), 2, low, high), np.array([8.0, 2.0, 2.0]), 10.0)

    assert constraint.best_sum(np.array([0.0, 6.0, 5.0])) == pytest.approx(6.0)
    assert constraint.best_sum(np.array([-9.0, 6.0, 5.0])) < 0


def test_where_the_number_of_picks_binds_too_a_price_is_a_share_of_both_limits():
    """Dear candidates that are worth it are picked, instead of as many of the cheapest as may be."""
    weights = np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0])
    costs = np.array([30.0, 30.0, 30.0, 1.0, 1.0, 1.0])
    both = Knapsack(Cardinality(np.ones(6, bool), 3), costs, 100.0, picks=3)
    budget = Knapsack(Cardinality(np.ones(6, bool), 3), costs, 100.0)

    assert np.argmax(weights / both.costs) == 0
    assert np.argmax(weights / budget.costs) == 3
    assert np.allclose(both.costs, costs / 100 + 1 / 3)
