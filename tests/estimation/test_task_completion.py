"""Filling missing cells, and moments of what is left."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.estimation.filled import filled
from benchcore.estimation.task_completion import complete
from benchcore.estimation.task_moments import moments_of, shrunk_covariance


def gappy(seed: int = 0, models: int = 120, tasks: int = 40, share: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Scores with three factors and a little noise, and the same with gaps."""
    random = np.random.default_rng(seed)
    factors = random.normal(size=(models, 3)) @ random.normal(size=(3, tasks)) * 0.08
    truth = 0.5 + factors + 0.1 * random.normal(size=(models, 1)) + 0.01 * random.normal(size=(models, tasks))
    return truth, np.where(random.random(truth.shape) < share, np.nan, truth)


def test_what_was_observed_stays_and_the_rest_is_nearly_right():
    """Three planted factors are found in 40 % of the cells: far nearer than the additive model comes."""
    truth, scores = gappy()
    gaps = np.isnan(scores)

    found = complete(scores)

    assert (found.scores[~gaps] == scores[~gaps]).all()
    assert np.array_equal(gaps, found.missing)
    wrong = np.sqrt(((found.scores - truth)[gaps] ** 2).mean())
    assert wrong < 0.35 * np.sqrt(((filled(scores.T).T - truth)[gaps] ** 2).mean())


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_noise_is_what_missing_cells_are_wrong_by(share: float, bootstrap: bool):
    """Not those that were fitted; nor does a copy of a model, in a bootstrap sample, tell its twin's."""
    truth, scores = gappy(3, share=share)
    rows = np.random.default_rng(0).integers(0, 120, 120) if bootstrap else np.arange(120)
    truth, scores = truth[rows], scores[rows]
    gaps = np.isnan(scores)

    found = complete(scores)

    claimed = np.broadcast_to(found.noise, gaps.shape)[gaps].mean()
    assert 0.5 < ((found.scores - truth)[gaps] ** 2).mean() / claimed < 2


@pytest.mark.parametrize("cells", [1, 2, 5])
def test_a_few_cells_have_a_noise(cells: int):
    """Finite, whatever is hidden of them."""
    scores = np.full((4, 4), np.nan)
    scores.flat[np.arange(cells) * 3] = np.arange(cells) / 10

    assert np.isfinite(complete(scores).noise).all()


def test_a_matrix_without_gaps_is_returned_and_one_without_scores_refused():
    """Nothing is to be filled, or nothing to fill it from."""
    truth, _ = gappy()

    assert complete(truth).scores is truth
    with pytest.raises(ValueError, match="not one score"):
        complete(np.full((3, 4), np.nan))


def test_rows_and_columns_without_scores_are_filled():
    """A model or a task of which nothing is known is taken to be average."""
    _, scores = gappy(1)
    scores[3], scores[:, 7] = np.nan, np.nan

    found = complete(scores).scores

    assert np.isfinite(found).all()
    assert np.isclose(np.nanmean(scores), found[3].mean(), atol=0.1)


def test_shrinkage_is_that_of_ledoit_and_wolf():
    """The share that goes to the identity is the estimate of lemmas 3.2 to 3.4, a sum over models."""
    scores = np.random.default_rng(0).normal(size=(30, 12)) @ np.diag(np.arange(1, 13.0))
    centred = scores - scores.mean(axis=0)
    sample = centred.T @ centred / 30
    level, identity = np.trace(sample) / 12, np.eye(12)
    apart = ((sample - level * identity) ** 2).sum()
    wobble = sum(((np.outer(row, row) - sample) ** 2).sum() for row in centred) / 30**2

    expected = sample + min(1.0, wobble / apart) * (level * identity - sample)

    assert np.allclose(expected, shrunk_covariance(scores))


def test_expectation_maximization_comes_nearer_to_the_covariance_than_filling_does():
    """With a third of the cells missing at random, in a matrix of many models."""
    truth, scores = gappy(2, models=600, tasks=12, share=0.35)
    target = np.cov(truth.T, bias=True)

    found = moments_of(scores, complete(scores)).covariance

    additive = np.cov(filled(scores.T), bias=True)
    assert np.linalg.norm(found - target) < 0.5 * np.linalg.norm(additive - target)
    assert np.linalg.eigvalsh(found).min() > 0
