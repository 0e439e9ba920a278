"""The explained share is what was planted."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.lab.explained import explained_share, standardised


@pytest.mark.parametrize("planted", [0.0, 0.3, 0.8])
def test_the_share_that_was_planted_is_found(planted: float):
    """Also beside columns that say nothing, and whatever the benchmarks' own means."""
    generator = np.random.default_rng(0)
    columns = standardised(generator.normal(size=(1500, 12)))
    groups = generator.integers(0, 3, 1500)
    signal = columns[:, :2] @ generator.normal(size=(2, 5))
    noise = generator.normal(size=(1500, 5))
    scores = np.sqrt(planted) * signal / signal.std(axis=0) + np.sqrt(1 - planted) * noise + 5.0 * groups[:, None]

    share = explained_share(columns, scores, groups, generator.integers(0, 5, 1500))

    assert share == pytest.approx(planted, abs=0.05)


def test_missing_scores_and_constant_models_do_no_harm():
    generator = np.random.default_rng(0)
    columns = generator.normal(size=(200, 3))
    scores = np.column_stack([columns[:, 0], np.ones(200), columns[:, 1]])
    scores[:150, 2] = np.nan

    assert explained_share(columns, scores, np.zeros(200, int), np.arange(200) % 5) > 0.9
