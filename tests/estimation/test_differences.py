"""Paired differences: intervals that hold, and how many more picks would settle which model is better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchcore.estimation.differences import paired_difference

DRAWS = 400
BAND = 1.96 * np.sqrt(0.95 * 0.05 / DRAWS)


def population(rare: float, lean: float, groups: int, n: int, seed: int = 0):
    """Differences of right and wrong answers: a share is not zero, and of those half and `lean` more are positive."""
    generator = np.random.default_rng(seed)
    differs, better = generator.uniform(size=n) < rare, generator.uniform(size=n) < 0.5 + lean
    return np.arange(n) % groups, np.where(differs, np.where(better, 1.0, -1.0), 0.0)


@pytest.mark.parametrize(
    ("rare", "lean", "groups", "each"), [(0.3, 0.1, 5, 10), (0.3, 0.2, 5, 20), (0.05, 0.3, 10, 10), (0.02, 0.2, 1, 100)]
)
def test_they_hold_the_truth_at_least_as_often_as_they_say(rare: float, lean: float, groups: int, each: int):
    """Also where models differ on few prompts, of which a coreset holds two or three."""
    group, differences = population(rare, lean, groups, 2000)
    sizes, shares = np.bincount(group).astype(np.float64), np.full(groups, 1 / groups)
    truth = shares @ np.array([differences[group == number].mean() for number in range(groups)])
    generator, hits = np.random.default_rng(1), 0
    for _ in range(DRAWS):
        rows = [generator.choice(np.flatnonzero(group == number), each, replace=False) for number in range(groups)]
        picks = np.concatenate(rows)
        found = paired_difference(differences[picks], group[picks], sizes, shares)
        hits += found.low <= truth <= found.high

    assert hits / DRAWS > 0.95 - BAND


def test_many_picks_give_the_paired_t_test():
    """One large group: the textbook's interval."""
    differences = np.random.default_rng(0).uniform(-1, 1, 3000) + 0.01
    differences = np.clip(differences, -1, 1)
    found = paired_difference(differences, np.zeros(3000, np.int64), np.array([1e12]), np.ones(1))

    told = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(told.low, abs=1e-4), pytest.approx(told.high, abs=1e-4))


def test_the_two_models_can_be_swapped():
    """Ends change sides and signs; what would settle it stays."""
    group, differences = population(0.3, 0.02, 3, 60)
    sizes, shares = np.full(3, 500.0), np.full(3, 1 / 3)
    one = paired_difference(differences, group, sizes, shares)
    other = paired_difference(-differences, group, sizes, shares)

    assert (one.estimate, one.low, one.high) == pytest.approx((-other.estimate, -other.high, -other.low))
    assert one.settled_at == other.settled_at


def test_models_that_agree_on_all_picks_may_differ_elsewhere():
    """By the share of prompts that a hundred picks without a difference leave possible, and no number settles it."""
    found = paired_difference(np.zeros(100), np.zeros(100, np.int64), np.array([10_000.0]), np.ones(1))

    assert found.low == -found.high
    assert 0.03 < found.high < 0.05
    assert (found.settled, found.settled_at) == (False, None)


def test_everything_picked_is_the_truth():
    """However small the difference."""
    group, differences = population(0.3, 0.02, 2, 40)
    found = paired_difference(differences, group, np.full(2, 20.0), np.full(2, 0.5))

    assert (found.low, found.high) == (found.estimate, found.estimate)


@settings(deadline=None)
@given(seed=st.integers(0, 200), lean=st.sampled_from([0.02, 0.05, 0.1]), size=st.sampled_from([50, 400, 5000]))
def test_so_many_picks_would_settle_it_and_one_round_fewer_would_not(seed: int, lean: float, size: int):
    """By the same picks over and over: a sample of that size with the same mean and variance."""
    groups = 4
    group, differences = population(0.4, lean, groups, 80, seed)
    sizes, shares = np.full(groups, float(size)), np.full(groups, 1 / groups)
    found = paired_difference(differences, group, sizes, shares)
    if found.settled_at is None:
        assert found.settled or found.estimate == 0
        return
    assert 80 < found.settled_at <= groups * size
    assert found.settled_at % groups == 0

    def half(rows: int) -> float:
        alike = (1 - rows / groups / size) / rows
        single = max((found.high - found.estimate), (found.estimate - found.low)) ** 2 / (1 - 20 / size) * 80
        return float(np.sqrt(single * alike))

    # Quantiles of t fall a little with more picks; what they do to the half width lies between these.
    assert half(found.settled_at) * 0.93 < abs(found.estimate) or found.settled_at == groups * size
    assert half(found.settled_at - groups) > abs(found.estimate) * 0.999 or found.settled_at - groups <= 80
