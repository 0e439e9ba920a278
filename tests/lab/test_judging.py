"""Figures of agreement between estimated and true scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from benchcore.lab.judging import pair_agreement, rank_correlation, top1_regret


@pytest.mark.parametrize("levels", [3, 7, 1000])
def test_rank_correlation_is_kendalls_tau_b(levels: int):
    """With many ties, some, and hardly any; models without a score do not count."""
    generator = np.random.default_rng(levels)
    truth = generator.integers(0, levels, 60) / levels
    estimate = np.round(truth + 0.3 * generator.normal(size=60), 1)
    estimate[5], truth[9] = np.nan, np.nan

    both = np.isfinite(estimate) & np.isfinite(truth)
    expected = kendalltau(estimate[both], truth[both]).statistic
    assert rank_correlation(estimate, truth) == pytest.approx(expected)


def test_scores_that_are_all_the_same_have_no_order():
    assert np.isnan(rank_correlation(np.ones(4), np.arange(4.0)))
    assert np.isnan(rank_correlation(np.ones(1), np.ones(1)))


def test_pairs_count_by_their_true_gap():
    """Gaps of 0.5, 2.5 and 3 points; the first pair is tied, which is half right, and the others are wrong."""
    truth, estimate = np.array([0.5, 0.505, 0.53]), np.array([0.5, 0.5, 0.4])

    agreeing, pairs = pair_agreement(estimate, truth)
    assert pairs.tolist() == [1, 0, 2, 0]
    assert agreeing.tolist() == [0.5, 0, 0, 0]


def test_models_that_look_alike_share_the_regret():
    """Whatever the order of the columns."""
    truth, estimate = np.array([0.5, 0.9, 0.7, np.nan]), np.array([0.8, 0.8, 0.6, 0.9])

    assert top1_regret(estimate, truth) == pytest.approx(0.9 - 0.7)
    assert top1_regret(estimate[::-1], truth[::-1]) == pytest.approx(0.9 - 0.7)
