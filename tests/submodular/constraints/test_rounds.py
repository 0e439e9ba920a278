"""Balanced rounds: balance at every prefix, and the shares that follow from it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchcore.submodular.constraints.rounds import Rounds, follows_rounds, shares

pools = {"seed": st.integers(0, 9999), "n": st.integers(1, 40), "groups": st.integers(1, 6)}


def group_numbers(seed: int, n: int, groups: int) -> np.ndarray:
    return np.minimum(np.random.default_rng(seed).geometric(0.5, n) - 1, groups - 1)


@given(**pools)
def test_counts_differ_by_at_most_one_as_far_as_sizes_allow(seed: int, n: int, groups: int):
    """At every prefix, until every candidate is picked."""
    group, random = group_numbers(seed, n, groups), np.random.default_rng(seed)
    rounds, sizes = Rounds(group, np.ones(n, bool), n), np.bincount(group, minlength=groups)
    counts = np.zeros(groups, np.int64)
    for _ in range(n):
        pick = int(random.choice(np.flatnonzero(rounds.allowed())))
        rounds.take(pick)
        counts[group[pick]] += 1
        waiting = counts[counts < sizes]

        assert not waiting.size or counts.max() - waiting.min() <= 1
    assert not rounds.allowed().any()


def test_a_single_group_is_never_renewed():
    """Plain cardinality only loses candidates."""
    rounds = Rounds(np.zeros(5, np.int64), np.ones(5, bool), 5)
    for pick in range(5):
        assert rounds.renewals == Rounds(np.zeros(5, np.int64), np.ones(5, bool), 5).renewals
        rounds.take(pick)


def test_includes_count_once_whether_announced_or_not():
    """An include in group 0 gives the turn to group 1, before and after it is taken."""
    group, available = np.array([0, 0, 1, 1]), np.array([False, True, True, True])
    announced, silent = Rounds(group, available, 3, np.array([1, 0])), Rounds(group, available, 3)

    assert np.flatnonzero(announced.allowed()).tolist() == [2, 3]
    assert np.flatnonzero(silent.allowed()).tolist() == [1, 2, 3]
    for rounds in (announced, silent):
        rounds.take(0)
        assert np.flatnonzero(rounds.allowed()).tolist() == [2, 3]
        rounds.take(2)
        assert np.flatnonzero(rounds.allowed()).tolist() == [1, 3]


def test_an_include_that_was_not_announced_counts_beside_those_that_were():
    """One of group 0 is announced, two are taken: group 1 gets two picks before group 0 gets another."""
    rounds = Rounds(np.array([0, 0, 0, 1, 1]), np.array([False, False, True, True, True]), 3, np.array([1, 0]))

    for taken in (0, 1, 3, 4):
        assert taken < 2 or not rounds.allowed()[2]
        rounds.take(taken)

    assert rounds.allowed()[2]


def test_an_excluded_candidate_is_never_allowed():
    """Also when its group has no other: the others do not wait for it."""
    rounds = Rounds(np.array([0, 1, 1]), np.array([False, True, True]), 2)

    rounds.take(1)

    assert np.flatnonzero(rounds.allowed()).tolist() == [2]


@given(**pools, k=st.integers(0, 50))
def test_shares_are_what_rounds_end_with(seed: int, n: int, groups: int, k: int):
    """Certain picks plus at most one more for as many groups as are said."""
    group, random = group_numbers(seed, n, groups), np.random.default_rng(seed)
    counts = random.integers(0, 3, groups)
    rounds, k = Rounds(group, np.ones(n, bool), k, counts), min(k, n)
    picks = []
    while (allowed := np.flatnonzero(rounds.allowed())).size:
        picks.append(int(random.choice(allowed)))
        rounds.take(picks[-1])

    share = shares(counts, np.bincount(group, minlength=groups), k)
    more = np.bincount(group[picks], minlength=groups) - share.sure

    assert k == len(picks)
    assert share.extra == more.sum()
    assert np.isin(more, [0, 1]).all()
    assert share.waiting[more == 1].all()


def test_an_order_out_of_turn_is_found_out():
    """The second pick of a group before the first of another, a pick that is not available, a pick made twice."""
    group = np.array([0, 0, 1, 1])

    assert follows_rounds(np.array([0, 2, 1]), group)
    assert not follows_rounds(np.array([0, 1]), group)
    assert not follows_rounds(np.array([0, 2, 0]), group)
    assert follows_rounds(np.array([0, 1]), group, available=np.array([True, True, False, False]))
    assert not follows_rounds(np.array([2]), group, available=np.array([True, True, False, False]))
    assert follows_rounds(np.array([2, 3]), group, counts=np.array([2, 0]))
