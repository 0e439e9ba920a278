"""Laws of every constraint: what it allows, when that grows, and its bounds on sums of gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.submodular.feasible import KINDS, Problem, problem

kinds = pytest.mark.parametrize("kind", KINDS)


def expected_next(case: Problem, parts: set[tuple[int, ...]], picks: tuple[int, ...]) -> list[int]:
    """What may be picked next, from the definition."""
    if case.kind.startswith("rounds"):
        return case.turn(picks)
    left = np.flatnonzero(case.available).tolist()
    return [c for c in left if c not in picks and tuple(sorted((*picks, c))) in parts]


@kinds
@given(seed=st.integers(0, 9999))
@settings(max_examples=60)
def test_allowed_is_what_can_still_be_completed(kind: str, seed: int):
    """No more and no less, at every step of a random walk, which ends with a feasible set."""
    case, random = problem(seed, kind), np.random.default_rng(seed)
    parts, constraint, picks = set(case.parts()), case.after_includes(), ()

    while (allowed := np.flatnonzero(constraint.allowed())).size:
        assert expected_next(case, parts, picks) == allowed.tolist()
        picks = (*picks, int(random.choice(allowed)))
        constraint.take(picks[-1])

    assert expected_next(case, parts, picks) == []
    assert tuple(sorted(picks)) in case.feasible()


@kinds
@given(seed=st.integers(0, 9999))
@settings(max_examples=40)
def test_renewals_count_when_the_allowed_may_have_grown(kind: str, seed: int):
    """A grown set is announced; a run without one in its history of at most one group announces nothing."""
    case, random = problem(seed, kind, n=14), np.random.default_rng(seed)
    constraint = case.after_includes()
    before, renewals = constraint.allowed().copy(), constraint.renewals

    while before.any():
        constraint.take(int(random.choice(np.flatnonzero(before))))
        allowed = constraint.allowed().copy()
        assert constraint.renewals > renewals or not (allowed & ~before).any()
        if not kind.startswith("rounds"):
            assert constraint.renewals == renewals
        elif not case.has_budget:
            assert (constraint.renewals > renewals) == bool((allowed & ~before).any())
        before, renewals = allowed, constraint.renewals


@kinds
@given(seed=st.integers(0, 9999), lowest=st.sampled_from([-6, 0]))
@settings(max_examples=60)
def test_best_sum_is_never_below_the_best_feasible_sum(kind: str, seed: int, lowest: int):
    """Brute force over all feasible sets, with negative gains too; equal to it where no budget relaxes it."""
    case = problem(seed, kind)
    gains = np.random.default_rng(seed).integers(lowest, 9, case.n).astype(np.float64)
    best = max(gains[list(picks)].sum() for picks in case.feasible())

    bound = case.after_includes().best_sum(gains)

    assert bound >= best
    if not case.has_budget:
        assert bound == best


@kinds
@given(seed=st.integers(0, 9999), lowest=st.sampled_from([-6, 0]))
@settings(max_examples=60)
def test_best_sums_bound_what_could_stand_in_for_each_prefix(kind: str, seed: int, lowest: int):
    """Over the parts of feasible sets of that size or, in a budget, at most that cost."""
    case, random = problem(seed, kind), np.random.default_rng(seed)
    gains = random.integers(lowest, 9, case.n).astype(np.float64)
    walk, order = case.after_includes(), []
    while (allowed := np.flatnonzero(walk.allowed())).size:
        order.append(int(random.choice(allowed)))
        walk.take(order[-1])

    bounds = case.after_includes().best_sums(gains, np.array(order, np.int64))

    assert bounds.shape == (len(order),)
    for place, bound in enumerate(bounds):
        if case.has_budget:
            rivals = [p for p in case.parts() if case.costs[list(p)].sum() <= case.costs[order[: place + 1]].sum()]
        else:
            rivals = [p for p in case.parts() if len(p) == place + 1]
        best = max(gains[list(picks)].sum() for picks in rivals)
        assert bound >= best
        if not case.has_budget:
            assert bound == best


@pytest.mark.parametrize("kind", ["cardinality in a budget", "quotas in a budget"])
def test_the_relaxation_is_near(kind: str):
    """On average the bound of a budget is within a fifth of the best sum, at eight candidates."""
    ratios = []
    for seed in range(200):
        case = problem(seed, kind)
        gains = np.random.default_rng(seed).integers(1, 9, case.n).astype(np.float64)
        best = max(gains[list(picks)].sum() for picks in case.feasible())
        ratios.append(case.after_includes().best_sum(gains) / max(best, 1.0))

    assert np.mean(ratios) < 1.2
