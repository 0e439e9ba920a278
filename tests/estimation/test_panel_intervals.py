"""Intervals that lean on a panel hold the truth as often as they say, and are narrower where it predicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.estimation.estimator import Sample
from benchcore.estimation.intervals import stratified_intervals
from benchcore.estimation.panel import aipw
from benchcore.estimation.panel_intervals import aipw_intervals, unfitted_residuals

DRAWS = 200
# Of the share of 200 draws that hold the truth, at a nominal 0.95: 1.96 standard deviations either way.
BAND = 1.96 * np.sqrt(0.95 * 0.05 / DRAWS)


def population(shared: float, groups: int, panel: int, *, n: int = 600, models: int = 12, seed: int = 0):
    """A sample of no picks, and right or wrong answers whose latent variable a difficulty explains to some share."""
    generator = np.random.default_rng(seed)
    group = np.arange(n) % groups
    difficulty = generator.normal(size=n) + 0.5 * generator.normal(size=groups)[group]
    latent = np.sqrt(shared) * difficulty[:, None] + np.sqrt(1 - shared) * generator.normal(size=(n, panel + models))
    scores = (latent + generator.uniform(-1, 1.2, panel + models) > 0).astype(np.float64)
    mass = (1 / groups / np.bincount(group))[group]
    return Sample(np.zeros(0, np.int64), group, mass, {}, panel=scores[:, :panel]), scores[:, panel:]


def draws(sample: Sample, each: int, count: int = DRAWS, seed: int = 1):
    """Samples of as many picks from each group."""
    generator = np.random.default_rng(seed)
    members = [np.flatnonzero(sample.groups == group) for group in range(sample.groups.max() + 1)]
    for _ in range(count):
        picks = [generator.choice(rows, each, replace=False) for rows in members]
        yield replace(sample, indices=np.concatenate(picks))


def coverage(sample: Sample, scores: np.ndarray, each: int) -> float:
    truth, hits = sample.mass @ scores, np.zeros(scores.shape[1])
    for drawn in draws(sample, each):
        found = aipw_intervals(drawn, scores[drawn.indices])
        hits += (found.low <= truth) & (truth <= found.high)
    return float(hits.mean() / DRAWS)


@pytest.mark.parametrize(("shared", "groups", "panel", "each"), [(0.5, 3, 3, 15), (0.05, 5, 10, 10), (0.9, 5, 10, 10)])
def test_they_hold_the_truth_as_often_as_they_say(shared: float, groups: int, panel: int, each: int):
    """A panel that predicts half, nothing, or nearly all."""
    sample, scores = population(shared, groups, panel)

    assert coverage(sample, scores, each) == pytest.approx(0.95, abs=BAND)


@pytest.mark.parametrize(("shared", "groups", "panel", "each"), [(0.5, 1, 10, 12), (0.8, 1, 20, 12), (0.9, 1, 3, 10)])
def test_few_picks_do_not_make_them_too_narrow(shared: float, groups: int, panel: int, each: int):
    """Also where the panel has as many models as there are picks: a fit's own residuals would be far too small."""
    sample, scores = population(shared, groups, panel)

    assert coverage(sample, scores, each) > 0.95 - BAND


def test_they_are_narrower_where_the_panel_predicts():
    sample, scores = population(0.9, 3, 5)
    sizes = np.bincount(sample.groups).astype(np.float64)
    widths = []
    for drawn in draws(sample, 20, count=20):
        blind = stratified_intervals(scores[drawn.indices], drawn.groups[drawn.indices], sizes, np.full(3, 1 / 3))
        found = aipw_intervals(drawn, scores[drawn.indices])
        widths.append(((found.high - found.low).mean(), (blind.high - blind.low).mean()))

    leaning, alone = np.mean(widths, axis=0)
    assert leaning < 0.8 * alone


def test_the_estimate_is_that_of_aipw():
    sample, scores = population(0.5, 3, 5)
    drawn = next(draws(sample, 20))

    assert np.allclose(aipw(drawn, scores[drawn.indices]), aipw_intervals(drawn, scores[drawn.indices]).estimate)


def test_a_pick_has_no_part_in_its_own_prediction():
    """A score that changes moves its own residual by as much, but for its part in the mean."""
    sample, scores = population(0.5, 1, 5)
    drawn = next(draws(sample, 20))
    own, weights = scores[drawn.indices, :1], np.full(20, 0.05)
    moved = own.copy()
    moved[7] += 10.0

    before, after = (unfitted_residuals(drawn, each, weights) for each in (own, moved))
    assert (after - before)[7, 0] == pytest.approx(10.0 - 0.5)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_scores_that_are_all_the_same_leave_doubt(value: float):
    """As without a panel: no variance was observed, so that of right and wrong answers is taken."""
    sample, _ = population(0.5, 2, 3)
    drawn = next(draws(sample, 10))
    found = aipw_intervals(drawn, np.full((20, 1), value))

    assert found.estimate[0] == pytest.approx(value)
    assert found.high[0] - found.low[0] > 0.1
    assert found.low[0] > -1e-12 and found.high[0] <= 1 + 1e-12


def test_one_pick_is_enough_for_an_interval_that_says_nothing():
    sample, scores = population(0.5, 1, 3)
    found = aipw_intervals(replace(sample, indices=np.array([5])), scores[[5]])

    assert np.all(found.high - found.low > 0.8)
