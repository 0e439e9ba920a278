"""Laws of the greedy order and of balanced rounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.submodular.certificate import best_feasible, upper_bound
from benchcore.submodular.facility_location import FacilityLocation
from benchcore.submodular.greedy import greedy, naive_greedy
from benchcore.submodular.quantise import integer_mass, quantise
from benchcore.submodular.rounds import Rounds, follows_rounds, quotas

pools = {"seed": st.integers(0, 9999), "n": st.integers(1, 40), "groups": st.integers(1, 6)}


def instance(seed: int, n: int, groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with many exact duplicates, masses with many equals, groups of unequal size."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(n, 4)).astype(np.float32)
    vectors[random.integers(0, n, n // 2)] = vectors[random.integers(0, n, n // 2)]
    group = np.minimum(random.geometric(0.5, n) - 1, groups - 1)
    return quantise(vectors, np.zeros(4)), integer_mass(np.full(n, 1 / n), np.zeros(n, np.int64)), group


def test_picks_equal_the_naive_reference():
    """Pick by pick and gain by gain, with ties, zero gains, includes and excludes, until nothing is left."""
    for seed, n, groups in itertools.product(range(25), (1, 2, 9, 40), (1, 5)):
        rows, mass, group = instance(seed, n, groups)
        random = np.random.default_rng(seed)
        include, exclude = np.split(random.permutation(n)[: n // 4], [n // 8])
        available = ~np.isin(np.arange(n), [*include, *exclude])
        similarity = rows.astype(np.float64) @ rows.T.astype(np.float64)

        expected = naive_greedy(similarity, mass, n, Rounds(group, available), include)
        found = greedy(FacilityLocation(rows, mass), n, Rounds(group, available), include)

        assert expected.order.tolist() == found.order.tolist()
        assert expected.gains.tolist() == found.gains.tolist()
        assert n - len(exclude) == len(set(found.order.tolist()))


@given(**pools)
def test_prefixes_are_nested_and_balanced(seed: int, n: int, groups: int):
    """A smaller k is the beginning of a larger one, and no group runs ahead of one that still has rows."""
    rows, mass, group = instance(seed, n, groups)
    full = greedy(FacilityLocation(rows, mass), n, Rounds(group)).order
    sizes = np.bincount(group, minlength=groups)

    half = greedy(FacilityLocation(rows, mass), n // 2, Rounds(group)).order

    assert full[: n // 2].tolist() == half.tolist()
    for k in range(n + 1):
        counts = np.bincount(group[full[:k]], minlength=groups)
        waiting = counts[counts < sizes]
        assert not waiting.size or counts.max() - waiting.min() <= 1


def test_equal_rows_are_never_picked_twice_and_ties_go_to_the_smallest_index():
    """With nothing to tell rows apart the order is that of the rows."""
    rows = quantise(np.ones((6, 3), np.float32), np.zeros(3))

    order = greedy(FacilityLocation(rows, np.full(6, 100.0)), 9, Rounds(np.zeros(6, np.int64)))

    assert order.order.tolist() == [0, 1, 2, 3, 4, 5]
    assert order.gains[1:].tolist() == [0.0] * 5


def feasible_sets(group: np.ndarray, available: np.ndarray, counts: np.ndarray, k: int) -> list[tuple[int, ...]]:
    """Every set of k rows that some order of balanced picks ends with."""

    def balanced(chosen: tuple[int, ...]) -> bool:
        final = counts + np.bincount(group[list(chosen)], minlength=len(counts))
        left = np.bincount(group[available], minlength=len(counts)) - (final - counts)
        grown = final[final > counts]
        return not (left > 0).any() or not grown.size or grown.max() - 1 <= final[left > 0].min()

    return [chosen for chosen in itertools.combinations(np.flatnonzero(available).tolist(), k) if balanced(chosen)]


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_above_every_feasible_set_and_its_sum_is_the_best(seed: int):
    """Brute force over all feasible sets, with includes and excludes."""
    n, groups = 9, 1 + seed % 4
    rows, mass, group = instance(seed, n, groups)
    include, available = np.array([seed % n]), np.ones(n, bool)
    available[[seed % n, (seed + 3) % n]] = False
    counts = np.bincount(group[include], minlength=groups)
    similarity = np.maximum(rows.astype(np.float64) @ rows.T.astype(np.float64), 0)
    for k in range(1, 6):
        objective = FacilityLocation(rows, mass)
        rounds = Rounds(group, available)
        greedy(objective, k + 1, rounds, include)
        gains = objective.all_gains()
        bound = upper_bound(objective.value, gains, groups=group, candidates=available, counts=counts, k=k)
        sets = feasible_sets(group, available, counts, k)
        values = [mass @ similarity[:, [*chosen, seed % n]].max(axis=1) for chosen in sets]
        chosen = best_feasible(gains, group, available, counts, k)

        assert max(values) <= bound
        assert max(gains[list(chosen)].sum() for chosen in sets) == gains[chosen].sum()
        assert tuple(sorted(chosen.tolist())) in sets
        assert tuple(sorted(np.flatnonzero(~rounds.available & available).tolist())) in sets


@given(**pools, k=st.integers(0, 50))
def test_quotas_are_what_rounds_end_with(seed: int, n: int, groups: int, k: int):
    """Certain picks plus at most one more for as many groups as are said."""
    _, _, group = instance(seed, n, groups)
    counts = np.random.default_rng(seed).integers(0, 3, groups)
    left = np.bincount(group, minlength=groups)
    rounds = Rounds(group, counts=counts)
    for _ in range(min(k, n)):
        rounds.take(int(np.random.default_rng(seed).choice(rounds.allowed())))

    share = quotas(counts, left, min(k, n))
    more = rounds.counts - counts - share.sure

    assert share.extra == more.sum()
    assert np.isin(more, [0, 1]).all()
    assert share.waiting[more == 1].all()


def test_an_order_out_of_turn_is_found_out():
    """The second pick of a group before the first of another."""
    group = np.array([0, 0, 1, 1])

    assert follows_rounds(np.array([0, 2, 1]), group)
    assert not follows_rounds(np.array([0, 1]), group)
    assert follows_rounds(np.array([0, 1]), group, available=np.array([True, True, False, False]))
