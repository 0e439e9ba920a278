"""Lazy greedy makes the picks of the naive one, whatever the objective, the constraint and the ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.constraint import Cardinality, Constraint
from benchcore.submodular.constraints.knapsack import Knapsack
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.optimizers import front
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from tests.submodular.feasible import KINDS, problem
from tests.submodular.planted import Coverage, Tightening, coverage

OBJECTIVES = {
    "monotone": {},
    "not monotone": {"priced": True},
    "with slack": {"wobble": 2.5},
    "without any law": {"wobble": np.inf},
    "tightening": {"kind": Tightening},
    "tightening with slack": {"kind": Tightening, "wobble": 2.5, "priced": True},
}


@pytest.mark.parametrize("law", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 9999), n=st.integers(8, 40), by_cost=st.booleans(), share=st.sampled_from([None, 0.0, 0.6]))
@settings(max_examples=25)
def test_picks_and_gains_are_those_of_the_naive_reference(
    law: str, kind: str, *, seed: int, n: int, by_cost: bool, share: float | None
):
    """Pick by pick, with includes, excludes, ties, prices and targets."""
    case, objective = problem(seed, kind, n), coverage(seed, n, **OBJECTIVES[law])
    target = None if share is None else share * objective.total()

    expected = naive_greedy(objective.fresh(), case.constraint(), case.include, by_cost=by_cost, target=target)
    found = lazy_greedy(objective.fresh(), case.constraint(), case.include, by_cost=by_cost, target=target)

    assert expected.order.tolist() == found.order.tolist()
    assert expected.gains.tolist() == found.gains.tolist()


@pytest.mark.parametrize("law", OBJECTIVES)
def test_a_small_front_changes_nothing(law: str, monkeypatch: pytest.MonkeyPatch):
    """With fewer members than candidates, in rounds that renew what is allowed, until all are picked."""
    monkeypatch.setattr(front, "_SIZE", 3)
    n = 20
    for seed in range(15):
        objective, groups = coverage(seed, n, **OBJECTIVES[law]), np.random.default_rng(seed).integers(0, 3, n)
        costs = np.random.default_rng(seed).integers(1, 9, n) / 64
        for name in ("cardinality", "rounds", "budget"):
            expected, found = (
                run(objective.fresh(), small_constraint(name, groups, costs), by_cost=name == "budget")
                for run in (naive_greedy, lazy_greedy)
            )
            assert expected.order.tolist() == found.order.tolist()


def small_constraint(name: str, groups: np.ndarray, costs: np.ndarray) -> Constraint:
    everything = np.ones(len(groups), bool)
    if name == "cardinality":
        return Cardinality(everything, len(groups))
    rounds = Rounds(groups, everything, len(groups))
    return rounds if name == "rounds" else Knapsack(rounds, costs, 1.0)


@pytest.mark.parametrize("law", OBJECTIVES)
@given(seed=st.integers(0, 9999))
@settings(max_examples=25)
def test_landmarks_bound_the_gains_of_their_moment(law: str, seed: int):
    """Replayed pick by pick: the value is that of some prefix, and no gain there is above its bound."""
    n = 12
    objective = coverage(seed, n, **OBJECTIVES[law])
    run = lazy_greedy(objective.fresh(), Cardinality(np.ones(n, bool), 9))
    sizes = [0, 1, 2, 4, 8, 9]

    assert len(sizes) == len(run.landmarks)
    for size, landmark in zip(sizes, run.landmarks, strict=True):
        state = objective.fresh()
        for pick in run.order[:size]:
            state.add(int(pick))
        left = np.setdiff1d(np.arange(n), run.order[:size])
        assert state.value == landmark.value
        assert (state.gains(left) <= landmark.bounds[left]).all()
        assert (landmark.bounds[run.order[:size]] == 0).all()


def test_few_gains_are_measured():
    """What lazy means: with disjoint candidates of unequal weight each pick costs no more than one batch."""
    n = 600
    objective = Coverage(np.eye(n, dtype=bool), np.arange(1.0, n + 1))

    lazy_greedy(objective, Cardinality(np.ones(n, bool), 20), landmarks=False)

    assert objective.measured <= n + 20 * 64


def test_nothing_to_pick_from():
    """No candidates, none available, none wanted."""
    empty = Coverage(np.zeros((0, 3), bool), np.ones(3))

    assert lazy_greedy(empty, Cardinality(np.zeros(0, bool), 3)).order.size == 0
    assert lazy_greedy(coverage(0, 5), Cardinality(np.zeros(5, bool), 3)).order.size == 0
    assert lazy_greedy(coverage(0, 5), Cardinality(np.ones(5, bool), 0)).order.size == 0


def test_advance_hears_of_every_pick():
    """Includes among them."""
    told: list[int] = []

    run = lazy_greedy(coverage(0, 8), Cardinality(np.arange(8) > 1, 3), np.array([1, 0]), advance=told.append)

    assert run.order[:2].tolist() == [1, 0]
    assert told == [1] * 5
