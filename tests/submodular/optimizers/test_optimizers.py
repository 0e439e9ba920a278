"""Laws of every optimizer: what it picks is feasible and new, its gains are true, and its promise holds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.optimizers.knapsack import knapsack_greedy
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.optimizers.sieve_streaming import sieve_streaming
from benchcore.submodular.optimizers.stochastic import stochastic_greedy
from benchcore.submodular.optimizers.swaps import swap_refinement
from benchcore.submodular.optimizers.threshold import threshold_greedy
from tests.submodular.feasible import KINDS, Problem, problem
from tests.submodular.planted import Coverage, coverage

Run = Callable[[Coverage, Problem], Greedy]


def swapped(objective: Coverage, case: Problem) -> Greedy:
    start = lazy_greedy(objective.fresh(), case.constraint(), case.include).order
    groups = None if case.kind == "cardinality" else case.groups
    return swap_refinement(objective, start, case.available, groups, fixed=len(case.include))


OPTIMIZERS: dict[str, Run] = {
    "naive": lambda objective, case: naive_greedy(objective, case.constraint(), case.include),
    "lazy": lambda objective, case: lazy_greedy(objective, case.constraint(), case.include),
    "stochastic": lambda objective, case: stochastic_greedy(
        objective, case.constraint(), max(case.further, 1), 0.1, 7, include=case.include
    ),
    "threshold": lambda objective, case: threshold_greedy(objective, case.constraint(), 0.1, case.include),
    "knapsack": lambda objective, case: knapsack_greedy(objective, case.constraint, case.include),
    "sieve": lambda objective, case: sieve_streaming(objective, case.available, case.further, 0.1, case.include),
    "swaps": swapped,
}
COUNTS = ("cardinality", "rounds", "quotas")
SERVES = [
    *itertools.product(("naive", "lazy", "stochastic", "threshold"), KINDS),
    *(("knapsack", kind) for kind in KINDS if kind not in COUNTS),
    *(("swaps", kind) for kind in COUNTS),
    ("sieve", "cardinality"),
]


@pytest.mark.parametrize(("name", "kind"), SERVES)
@given(seed=st.integers(0, 9999), n=st.integers(8, 12), priced=st.booleans())
@settings(max_examples=25)
def test_a_run_is_feasible_and_its_gains_are_true(name: str, kind: str, seed: int, n: int, priced: bool):
    """Includes first, no pick twice, the budget filled as far as the constraint lets it, the same again next time."""
    case, objective = problem(seed, kind, n), coverage(seed, n, priced=priced and name != "sieve")

    state = objective.fresh()
    run = OPTIMIZERS[name](state, case)
    again = OPTIMIZERS[name](objective.fresh(), case)

    picks = run.order.tolist()
    given_, further = picks[: len(case.include)], picks[len(case.include) :]
    assert case.include.tolist() == given_
    assert len(picks) == len(set(picks))
    assert tuple(sorted(further)) in case.feasible()
    assert run.gains.tolist() == [
        objective.of(tuple(picks[: k + 1])) - objective.of(tuple(picks[:k])) for k in range(len(picks))
    ]
    assert picks == again.order.tolist()
    assert state.value == (0.0 if name == "knapsack" else run.gains.sum())
    if case.has_budget:
        left = [c for c in np.flatnonzero(case.available) if c not in picks]
        assert (
            kind != "cardinality in a budget"
            or len(further) == case.further
            or not any(case.fits((*further, int(c))) for c in left)
        )


PROMISES = {
    ("naive", "cardinality"): 1 - 1 / math.e,
    ("lazy", "cardinality"): 1 - 1 / math.e,
    ("threshold", "cardinality"): 1 - 1 / math.e - 0.1,
    ("sieve", "cardinality"): 0.5 - 0.1,
    ("swaps", "cardinality"): 0.5,
    ("lazy", "rounds"): 0.5,
    ("lazy", "quotas"): 0.5,
    ("knapsack", "cardinality in a budget"): 0.405,
}


@pytest.mark.parametrize(("name", "kind"), PROMISES)
@given(seed=st.integers(0, 99999))
@settings(max_examples=60)
def test_the_promise_holds(name: str, kind: str, seed: int):
    """Against the brute-force optimum of a monotone submodular objective; 0.405 is of a budget alone."""
    case, objective = problem(seed, kind), coverage(seed, 8)
    if case.has_budget:
        case = Problem(**{**vars(case), "further": 8, "include": case.include[:0], "announced": False})

    run = OPTIMIZERS[name](objective.fresh(), case)
    given_ = objective.of(tuple(case.include.tolist()))
    best = max(objective.of((*picks, *case.include.tolist())) for picks in case.feasible()) - given_

    assert run.gains.sum() - given_ >= PROMISES[name, kind] * best - 1e-9


@pytest.mark.parametrize("name", ["naive", "lazy", "stochastic", "threshold", "sieve"])
def test_useless_candidates_fill_the_budget(name: str):
    """Every gain zero: the first candidates, or a seeded draw; never fewer than asked for."""
    objective = Coverage(np.zeros((9, 2), bool), np.ones(2))
    case = Problem(
        **{
            **vars(problem(0, "cardinality", 9)),
            "available": np.ones(9, bool),
            "include": np.zeros(0, int),
            "further": 9,
        }
    )

    order = OPTIMIZERS[name](objective, case).order.tolist()

    assert list(range(9)) == (sorted(order) if name == "stochastic" else order)


def cardinality(n: int, k: int) -> Cardinality:
    return Cardinality(np.ones(n, bool), k)


@pytest.mark.parametrize(
    "run",
    [
        lambda objective, k: stochastic_greedy(objective, cardinality(20, k), 5, 0.2, 3),
        lambda objective, k: threshold_greedy(objective, cardinality(20, k), 0.2),
        lambda objective, k: lazy_greedy(objective, cardinality(20, k)),
    ],
)
def test_prefixes_are_nested(run: Callable[[Coverage, int], Greedy]):
    """A smaller k is the beginning of a larger one."""
    for seed in range(20):
        objective = coverage(seed, 20)
        full = run(objective.fresh(), 20).order

        for k in (0, 1, 5, 13):
            assert full[:k].tolist() == run(objective.fresh(), k).order.tolist()


def test_stochastic_greedy_measures_its_samples_and_no_more():
    """ceil(n / k ln(1 / epsilon)) gains a pick, in expectation near greedy's value."""
    objective = coverage(5, 40)

    stochastic_greedy(objective, cardinality(40, 5), 5, 0.1, 0)

    assert objective.measured == 5 * math.ceil(40 / 5 * math.log(10))
    ratios = []
    for seed in range(100):
        objective = coverage(seed, 20)
        best = lazy_greedy(objective.fresh(), cardinality(20, 4)).gains.sum()
        ratios.append(stochastic_greedy(objective.fresh(), cardinality(20, 4), 4, 0.1, seed).gains.sum() / max(best, 1))
    assert np.mean(ratios) > 1 - 1 / math.e - 0.1


def test_another_seed_draws_other_samples():
    """The seed is what decides."""
    objective = coverage(5, 40)
    orders = {tuple(stochastic_greedy(objective.fresh(), cardinality(40, 5), 5, 0.5, s).order) for s in range(10)}

    assert len(orders) > 1


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -0.1, math.nan])
def test_epsilon_lies_between_0_and_1(epsilon: float):
    """For all that take one."""
    for run in (
        lambda: stochastic_greedy(coverage(0, 5), cardinality(5, 2), 2, epsilon, 0),
        lambda: threshold_greedy(coverage(0, 5), cardinality(5, 2), epsilon),
        lambda: sieve_streaming(coverage(0, 5), np.ones(5, bool), 2, epsilon),
    ):
        with pytest.raises(ValueError, match="epsilon must be"):
            run()


def test_a_threshold_that_would_hardly_fall_is_refused():
    """It would take for ever."""
    with pytest.raises(ValueError, match=r"from 0\.0001"):
        threshold_greedy(coverage(0, 5), cardinality(5, 2), 1e-300)


def test_a_threshold_pass_equals_the_algorithm_as_it_is_written_down():
    """One candidate after another, every gain anew."""
    for seed in range(5):
        n, k, epsilon = 150, 8, 0.3
        objective = coverage(seed, n)
        state, order = objective.fresh(), []
        threshold = largest = state.gains(np.arange(n)).max()
        while threshold > epsilon / n * largest:
            for candidate in range(n):
                if len(order) < k and candidate not in order and state.gains(np.array([candidate]))[0] >= threshold:
                    state.add(candidate)
                    order.append(candidate)
            threshold *= 1 - epsilon
        order += [c for c in range(n) if c not in order][: k - len(order)]

        assert order == threshold_greedy(objective.fresh(), cardinality(n, k), epsilon).order.tolist()


@pytest.mark.parametrize("wobble", [0.0, 2.0, np.inf])
def test_a_threshold_starts_again_in_every_round(wobble: float):
    """The first turn is worth nothing, the second something: the best of it is found, and the run ends."""
    covers = np.array([[0, 0], [0, 0], [1, 0], [1, 1]], bool)
    objective, groups = Coverage(covers, np.array([2.0, 5.0]), wobble=wobble), np.array([0, 0, 1, 1])
    constraint = Rounds(groups, np.ones(4, bool), 4, np.array([0, 1]))

    order = threshold_greedy(objective, constraint, 0.1).order.tolist()

    assert sorted(order) == [0, 1, 2, 3]
    assert wobble or order == [0, 3, 1, 2]


def test_a_sieve_needs_a_monotone_objective():
    """It says so instead of sieving by meaningless thresholds."""
    with pytest.raises(ValueError, match="monotone"):
        sieve_streaming(coverage(3, 8, priced=True), np.ones(8, bool), 2, 0.1)


def test_a_sieve_keeps_few_states(monkeypatch: pytest.MonkeyPatch):
    """About log(2 k) / epsilon of them over several chunks, not one for each candidate."""
    random = np.random.default_rng(0)
    objective, made = Coverage(random.random((700, 60)) < 0.05, random.integers(1, 50, 60).astype(float)), []
    fresh = Coverage.fresh
    monkeypatch.setattr(Coverage, "fresh", lambda self: made.append(1) or fresh(self))

    run = sieve_streaming(objective, np.ones(700, bool), 10, 0.2)

    assert len(made) < 2 * math.log(2 * 10 * 1.2) / math.log(1.2) + 10
    assert run.gains.sum() >= 0.3 * lazy_greedy(fresh(objective), cardinality(700, 10)).gains.sum()


@given(seed=st.integers(0, 9999), grouped=st.booleans(), fixed=st.integers(0, 2))
@settings(max_examples=40)
def test_swaps_end_at_a_local_optimum(seed: int, grouped: bool, fixed: int):
    """No exchange of one pick is worth more; the value never falls, and groups and fixed picks stay."""
    objective, groups, n = coverage(seed, 10), np.random.default_rng(seed).integers(0, 2, 10), 10
    start = np.random.default_rng(seed).permutation(n)[:4]

    run = swap_refinement(
        objective.fresh(), start, np.ones(n, bool), groups if grouped else None, fixed=fixed, sweeps=99
    )

    value, picks = objective.of(tuple(run.order)), run.order.tolist()
    assert objective.of(tuple(start)) <= value == run.gains.sum()
    assert start[:fixed].tolist() == picks[:fixed]
    for place, rival in itertools.product(range(fixed, 4), set(range(n)) - set(picks)):
        if not grouped or groups[rival] == groups[picks[place]]:
            assert objective.of((*picks[:place], *picks[place + 1 :], rival)) <= value
    if grouped:
        assert groups[start].tolist() == groups[run.order].tolist()


def test_swaps_stop_after_the_sweeps_that_were_asked_for():
    """None leave the order as it is."""
    start = np.array([0, 1])
    objective = Coverage(np.eye(4, dtype=bool), np.arange(1.0, 5.0))

    assert swap_refinement(objective.fresh(), start, np.ones(4, bool), sweeps=0).order.tolist() == [0, 1]
    assert swap_refinement(objective.fresh(), start, np.ones(4, bool), sweeps=1).order.tolist() == [3, 2]


def test_swaps_leave_what_is_not_available_outside():
    """However good it is; a pick that was swapped out may come back."""
    objective = Coverage(np.eye(4, dtype=bool), np.arange(1.0, 5.0))

    run = swap_refinement(objective, np.array([0, 1]), np.array([True, True, True, False]))

    assert sorted(run.order.tolist()) == [1, 2]
