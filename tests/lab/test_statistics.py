"""Intervals and corrections: on data of which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.lab.judging import pair_agreement
from benchcore.lab.statistics import holm, interval, p_value, ratios, resamples, widened


def test_ratio_is_the_mean_over_pools_of_ratios_of_means_on_the_same_models():
    """A model that only one of both scored does not count."""
    errors = np.array([[1.0, 2.0, np.nan], [3.0, 3.0, 9.0]])
    control = np.array([[2.0, 2.0, 50.0], [6.0, np.nan, 9.0]])

    samples = ratios(errors, control, resamples(2, 3, 10, np.random.default_rng(0)))

    assert samples[0] == pytest.approx((3 / 4 + 12 / 15) / 2)
    assert samples.shape == (11,)


def test_intervals_cover_pools_and_models_that_differ():
    """Errors with an effect of each pool and each model: 95 % intervals hold the true ratio in about 95 % of cases."""
    generator, covered, cases = np.random.default_rng(0), 0, 150
    for _ in range(cases):
        pool, model = generator.normal(0, 0.2, (15, 1)), generator.normal(0, 0.2, (1, 15))
        errors = 0.9 + pool + model + generator.normal(0, 0.1, (15, 15))
        low, high = interval(ratios(errors, np.ones((15, 15)), resamples(15, 15, 200, generator)))
        covered += low <= 0.9 <= high
    assert 0.88 <= covered / cases <= 1.0


def test_p_values_are_small_only_where_the_null_is_far():
    samples = np.concatenate([[0.8], np.random.default_rng(0).normal(0.8, 0.05, 999)])

    assert p_value(samples, 1.0) == pytest.approx(2 / 1000)
    assert p_value(samples, 0.8) > 0.8


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    assert holm([0.01, float("nan"), 0.03, 0.02]) == pytest.approx([0.03, float("nan"), 0.04, 0.04], nan_ok=True)
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_pairs_are_counted_by_their_true_gap():
    """Gaps of half a point, one and a half, and ten: right, tied and wrong."""
    truth = np.array([0.500, 0.505, 0.520, 0.620])
    estimate = np.array([0.1, 0.2, 0.2, 0.15])

    agreeing, pairs = pair_agreement(estimate, truth)

    assert pairs.tolist() == [1, 1, 1, 3]  # .005; .015; .020 (in binary a hair more); .1 and more
    assert agreeing.tolist() == [1, 0.5, 1, 1]


def test_luck_widens_and_never_narrows():
    """To the spread of the ratios with permuted scores, about the estimate."""
    samples = np.concatenate([[0.9], 0.9 + 0.05 * np.random.default_rng(0).normal(size=2000)])
    luck = 1.0 + 0.2 * np.random.default_rng(1).normal(size=200)

    wide = widened(samples, luck)
    assert wide[0] == 0.9
    assert wide[1:].std() == pytest.approx(luck.std(), rel=1e-6)
    assert np.array_equal(widened(samples, 1.0 + 0.1 * (luck - 1.0)), samples)
    assert np.array_equal(widened(samples, np.zeros(0)), samples)
