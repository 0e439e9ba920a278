"""One battery of laws that every named task estimator obeys, and what the shrinking regressions are."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.estimation import task_source
from benchcore.estimation.task_estimators import TASK_ESTIMATORS
from benchcore.estimation.task_regressions import SHIFT, TOTAL, WEIGHT, toward_mean
from benchcore.estimation.task_source import TaskSource, strength_weights

EVERY = pytest.mark.parametrize("name", sorted(TASK_ESTIMATORS))
LEARNING = pytest.mark.parametrize("name", sorted(set(TASK_ESTIMATORS) - {"plain", "cluster_weights"}))


def leaderboard(seed: int = 0, models: int = 60, tasks: int = 14) -> np.ndarray:
    """Scores of models of different ability on tasks that share two factors."""
    random = np.random.default_rng(seed)
    factors = random.normal(size=(models, 2)) @ random.normal(size=(2, tasks))
    linear = random.normal(size=(models, 1)) + 0.5 * factors + random.normal(size=tasks)
    return np.clip(1 / (1 + np.exp(-linear)) + 0.02 * random.normal(size=linear.shape), 0, 1)


@EVERY
def test_a_census_gives_the_mean(name: str):
    """With every task picked the mean is the truth, but for a ridge's own penalty."""
    scores = leaderboard()
    everything = np.random.default_rng(1).permutation(14)

    predicted = TASK_ESTIMATORS[name](TaskSource(scores[:40]), everything, scores[40:][:, everything])

    assert np.allclose(scores[40:].mean(axis=1), predicted.mean(axis=1), atol=0.005 if name == "ridge" else 1e-4)


@LEARNING
def test_unseen_models_are_predicted_better_than_by_the_tasks_means(name: str):
    """Every other task, from four picks."""
    scores, picks = leaderboard(2, models=120), np.array([0, 3, 7, 9])
    others = np.setdiff1d(np.arange(14), picks)

    predicted = TASK_ESTIMATORS[name](TaskSource(scores[:80]), picks, scores[80:][:, picks])

    wrong = np.abs(predicted - scores[80:])[:, others].mean()
    assert wrong < 0.75 * np.abs(scores[:80].mean(axis=0) - scores[80:])[:, others].mean()


@EVERY
def test_the_order_of_tasks_picks_and_models_changes_nothing(name: str):
    """Tasks are known by their scores."""
    scores, picks = leaderboard(3), np.array([5, 1, 11])
    random = np.random.default_rng(4)
    tasks, models, shuffled = random.permutation(14), random.permutation(40), random.permutation(3)
    place = np.argsort(tasks)

    before = TASK_ESTIMATORS[name](TaskSource(scores[:40]), picks, scores[40:][:, picks])
    moved = place[picks][shuffled]
    after = TASK_ESTIMATORS[name](TaskSource(scores[:40][models][:, tasks]), moved, scores[40:][:, tasks][:, moved])

    assert np.allclose(before[:, tasks], after, atol=1e-6)


@EVERY
def test_missing_scores_concern_their_model_alone(name: str):
    """A model is predicted from the picks that it has, as if there were no others; NaN is for one that has none."""
    scores, picks = leaderboard(5), np.array([2, 6, 8])
    source, picked = TaskSource(scores[:40]), scores[40:][:, picks]
    holes = picked.copy()
    holes[1, 0], holes[2] = np.nan, np.nan

    before, after = TASK_ESTIMATORS[name](source, picks, picked), TASK_ESTIMATORS[name](source, picks, holes)

    rest = np.setdiff1d(np.arange(20), [1, 2])
    assert np.allclose(before[rest], after[rest], atol=1e-12)
    assert np.isnan(after[2]).all()
    assert np.allclose(after[1], TASK_ESTIMATORS[name](source, picks[1:], picked[1:2, 1:])[0])


@EVERY
@pytest.mark.parametrize("models", [2, 5])
def test_few_models_many_picks_and_gaps(name: str, models: int):
    """Fewer models than picks, a constant task, missing cells: still finite."""
    scores = leaderboard(6)
    source = scores[:models].copy()
    source[:, 4] = 0.5
    source[0, 2] = np.nan

    predicted = TASK_ESTIMATORS[name](TaskSource(source), np.arange(10), scores[40:][:, :10])

    assert np.isfinite(predicted).all()


@EVERY
def test_the_same_source_gives_the_same_predictions(name: str):
    """Bit by bit."""
    scores, picks = leaderboard(7), np.array([2, 6, 8])

    first, second = (TASK_ESTIMATORS[name](TaskSource(scores[:40]), picks, scores[40:][:, picks]) for _ in range(2))

    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("name", ["shrunk_linear", "shrunk_logit", "shrunk_blend"])
def test_the_default_and_its_parts_keep_to_scores_that_can_be(name: str):
    """Of models far above and below all that were learnt from."""
    random = np.random.default_rng(9)
    source = np.clip(0.9 + 0.05 * random.normal(size=(50, 1)) + np.linspace(-0.1, 0.1, 10), 0, 1)

    predicted = TASK_ESTIMATORS[name](TaskSource(source), np.array([0, 1]), np.array([[1.0, 1.0], [0.0, 0.0]]))

    assert 0 <= predicted.min() <= predicted.max() <= 1


def test_the_shrinking_regression_minimizes_its_penalized_error():
    """Its coefficients for a task are those of the ridge regression that its docstring describes."""
    scores, picks = leaderboard(8), np.array([1, 4, 9])
    source = TaskSource(scores)
    gram, rows = source.gram, scores[:, picks]

    found = toward_mean(gram, picks)[:, 0]

    root = np.sqrt(source.weights)[:, None]
    penalties = np.sqrt(gram.spread) * np.array([
        *(np.sqrt(WEIGHT) * np.eye(4)[:3]), np.sqrt(TOTAL) * np.array([1, 1, 1, 0]), np.sqrt(SHIFT) * np.eye(4)[3],
    ])  # fmt: skip
    design = np.vstack([root * np.column_stack([rows, np.ones(len(rows))]), penalties])
    target = np.concatenate([root[:, 0] * (scores[:, 0] - rows.mean(axis=1)), np.zeros(5)])
    deviations = np.linalg.lstsq(design, target, rcond=None)[0]
    assert np.allclose(deviations + np.array([1 / 3, 1 / 3, 1 / 3, 0]), found)


def test_stronger_models_count_more_and_equal_ones_the_same():
    """One on average."""
    weights = strength_weights(np.array([0.2, 0.9, 0.5, 0.5, 0.1]))

    assert np.isclose(1, weights.mean())
    assert weights[1] > weights[2] == weights[3] > weights[0] > weights[4]


def test_a_large_source_gives_what_a_small_one_gives(monkeypatch: pytest.MonkeyPatch):
    """Rows of inner products are computed alone where there are many cells."""
    monkeypatch.setattr(task_source, "_SMALL", 0.0)
    scores = np.random.default_rng(0).random((40, 20))
    scores[0, 3] = np.nan
    picks = np.array([3, 5, 19])
    gram = TaskSource(scores).gram

    alone = gram.rows(picks)

    assert np.allclose(gram.products[picks], alone)
