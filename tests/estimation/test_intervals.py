"""Intervals of random designs hold the truth as often as they say, on planted populations and at the edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.estimation.intervals import Intervals, spread_intervals, stratified_intervals
from benchcore.methods import METHODS
from benchcore.methods.problem import Problem

DRAWS = 400
# Of the share of 400 draws that hold the truth, at a nominal 0.95: 1.96 standard deviations either way.
BAND = 1.96 * np.sqrt(0.95 * 0.05 / DRAWS)


def population(share: float, groups: int, *, n: int, d: int = 3, models: int = 12, seed: int = 1):
    """Points, group numbers and right or wrong answers whose latent variable points explain to the given share."""
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(n, d)).astype(np.float32)
    directions = generator.normal(size=(d, models))
    common = points @ (directions / np.linalg.norm(directions, axis=0))
    level = 0.5 * generator.normal(size=(groups, models)) + generator.uniform(-1, 1.2, models)
    group = np.arange(n) % groups
    latent = np.sqrt(share) * common + np.sqrt(1 - share) * generator.normal(size=(n, models)) + level[group]
    return points, group, (latent > 0).astype(np.float64)


def target(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of the groups, and equal shares."""
    sizes = np.bincount(group).astype(np.float64)
    return sizes, np.full(len(sizes), 1 / len(sizes))


def problem(points: np.ndarray, group: np.ndarray, k: int) -> Problem:
    sizes, shares = target(group)
    ids, names = (np.array([f"{mark}{number:05d}" for number in numbers]) for mark, numbers in
                  (("p", range(len(group))), ("g", group)))  # fmt: skip
    return Problem(ids, names, (shares / sizes)[group], {"embedding": points}, k)


def coverage(method: str, points: np.ndarray, group: np.ndarray, scores: np.ndarray, k: int) -> float:
    """Mean over models of how often the interval of a draw holds the true score."""
    sizes, shares = target(group)
    truth = shares @ np.array([scores[group == number].mean(axis=0) for number in range(len(sizes))])
    hits = np.zeros(len(truth))
    asked = problem(points, group, k)
    for seed in range(DRAWS):
        picks = METHODS[method](replace(asked, seed=seed)).indices
        found = of(method, scores[picks], group[picks], sizes, shares, points[picks])
        hits += (found.low <= truth) & (truth <= found.high)
    return float(hits.mean() / DRAWS)


def of(method: str, scores: np.ndarray, groups: np.ndarray, *rest: np.ndarray) -> Intervals:
    if method == "random":
        return stratified_intervals(scores, groups, *rest[:2])
    return spread_intervals(scores, groups, *rest)


@pytest.mark.parametrize("share", [0.05, 0.5])
@pytest.mark.parametrize("method", ["random", "local_pivotal"])
def test_they_hold_the_truth_as_often_as_they_say(method: str, share: float):
    """Three groups, 45 picks of 150: a third of the pool is picked, and points explain little or half."""
    points, group, scores = population(share, 3, n=150)

    assert coverage(method, points, group, scores, 45) == pytest.approx(0.95, abs=BAND)


def test_they_hold_with_five_picks_a_group():
    """Fourteen groups with five picks each: variances inside are rough, and there are many of them."""
    points, group, scores = population(0.05, 14, n=1400)

    assert coverage("random", points, group, scores, 70) == pytest.approx(0.95, abs=BAND)


@pytest.mark.parametrize(("groups", "k"), [(10, 15), (20, 20)])
def test_groups_of_one_pick_make_them_wide_rather_than_wrong(groups: int, k: int):
    points, group, scores = population(0.05, groups, n=400)

    assert coverage("random", points, group, scores, k) > 0.95 - BAND


def test_they_hold_for_models_that_are_nearly_always_right():
    """At a true score of 0.97, where an interval of plus and minus t standard errors fails."""
    generator = np.random.default_rng(0)
    points, group = generator.normal(size=(600, 3)), np.zeros(600, np.int64)
    scores = (generator.permuted(np.tile(np.arange(600) < 18, (12, 1)), axis=1).T < 0.5).astype(np.float64)
    assert np.allclose(0.97, scores.mean(axis=0))

    assert coverage("random", points, group, scores, 100) > 0.95 - BAND


def test_they_are_the_truth_where_everything_is_picked():
    points, group, scores = population(0.5, 3, n=60)
    truth = np.array([scores[group == number].mean(axis=0) for number in range(3)]).mean(axis=0)

    for method in ("random", "local_pivotal"):
        found = of(method, scores, group, *target(group), points)
        assert np.allclose(truth, found.low) and np.allclose(truth, found.high)
        assert np.allclose(0, found.standard_error)


def test_many_picks_give_the_textbook_standard_error():
    """One group: sqrt((1 - n/N) s^2 / n), and an interval of 1.96 of them either way."""
    generator = np.random.default_rng(0)
    scores, size = generator.uniform(size=(4000, 3)), 10000.0
    found = stratified_intervals(scores, np.zeros(4000, np.int64), np.array([size]), np.ones(1))

    error = np.sqrt((1 - 4000 / size) * scores.var(axis=0, ddof=1) / 4000)
    assert np.allclose(error, found.standard_error, rtol=1e-6)
    assert np.allclose(2 * 1.9605 * error, found.high - found.low, rtol=1e-3)
    assert np.allclose(scores.mean(axis=0), found.estimate)


def test_what_near_picks_share_makes_no_interval_wide():
    """Scores that are settled by place leave a design that spreads over places little to be unsure of."""
    generator = np.random.default_rng(0)
    points = 10.0 * generator.integers(0, 2, (80, 1)) + 0.1 * generator.normal(size=(80, 1))
    scores, group = (points > 5).astype(np.float64), np.zeros(80, np.int64)
    sizes, shares = np.array([800.0]), np.ones(1)

    spread = spread_intervals(scores, group, sizes, shares, points)
    blind = stratified_intervals(scores, group, sizes, shares)
    assert spread.standard_error < 0.2 * blind.standard_error


def test_a_missing_score_is_as_a_pick_that_was_not_made():
    points, group, scores = population(0.05, 2, n=40)
    gone = scores.copy()
    gone[::3, 0] = np.nan
    gone[:, 1] = np.nan
    rest = np.isfinite(gone[:, 0])
    sizes, shares = np.array([100.0, 200.0]), np.full(2, 0.5)

    found = stratified_intervals(gone, group, sizes, shares)
    fewer = stratified_intervals(scores[rest], group[rest], sizes, shares)
    whole = stratified_intervals(scores, group, sizes, shares)
    assert (found.low[0], found.high[0]) == pytest.approx((fewer.low[0], fewer.high[0]))
    assert np.isnan([found.low[1], found.high[1], found.estimate[1]]).all()
    assert np.allclose(whole.low[2:], found.low[2:])
    near = spread_intervals(gone, group, sizes, shares, points)
    assert near.low[0] < near.estimate[0] < near.high[0] and np.isnan(near.low[1])


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_scores_that_are_all_the_same_leave_doubt(value: float):
    """Ten right answers do not prove that all are right; ends stay scores, and a higher level asks for more."""
    scores, group = np.full((10, 1), value), np.zeros(10, np.int64)
    found = [stratified_intervals(scores, group, np.array([500.0]), np.ones(1), level=level) for level in (0.8, 0.95)]

    widths = [float((one.high - one.low)[0]) for one in found]
    assert 0.05 < widths[0] < widths[1] < 0.5
    assert all(-1e-12 <= one.low[0] <= value <= one.high[0] <= 1 + 1e-12 for one in found)


@pytest.mark.parametrize("value", [0.3, 0.5])
@pytest.mark.parametrize("count", [1, 3])
def test_partial_scores_that_are_all_the_same_leave_doubt(value: float, count: int):
    """The standard error is that of right and wrong answers in such a share, and the interval is as wide."""
    groups, sizes = np.zeros(count, np.int64), np.array([500.0])
    found = stratified_intervals(np.full((count, 1), value), groups, sizes, np.ones(1))

    error = np.sqrt((1 - count / 500) * value * (1 - value) / count)
    assert np.allclose(error, found.standard_error)
    assert 0 <= found.low[0] < max(value - 1.5 * error, 0.05)
    assert 1 >= found.high[0] > min(value + 1.5 * error, 0.95)


def test_one_score_says_little_however_many_groups_there_are():
    """Groups without a score lend no degrees of freedom."""
    scores, groups = np.full((14, 2), np.nan), np.arange(14)
    scores[0] = [1.0, 0.5]
    found = stratified_intervals(scores, groups, np.full(14, 100.0), np.full(14, 1 / 14))

    assert (found.low < 0.025).all() and (found.high > 0.975).all()
    assert np.allclose(1, found.freedom)


def test_equal_scores_of_everything_are_the_truth():
    """Nothing is left to doubt where all is picked, though no variance was observed."""
    found = stratified_intervals(np.full((6, 1), 0.3), np.arange(6) % 2, np.full(2, 3.0), np.full(2, 0.5))

    assert (found.low, found.high) == (pytest.approx(0.3), pytest.approx(0.3))
