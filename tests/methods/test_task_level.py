"""Methods that pick whole tasks: against naive references, and on leaderboards whose structure is planted."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchcore.estimation.task_moments import shrunk_covariance
from benchcore.estimation.task_source import TaskSource
from benchcore.methods import METHODS
from benchcore.methods.problem import Problem
from benchcore.methods.task_level.backward_elimination import copies_of, predictability
from benchcore.methods.task_level.fit import Conditional, forward, shrunk_fit, swap

NONE = np.zeros(0, np.int64)


def scores(seed: int = 0, models: int = 50, tasks: int = 12) -> np.ndarray:
    """(models, tasks) with a general factor and two others."""
    random = np.random.default_rng(seed)
    shared = random.normal(size=(models, 1)) + random.normal(size=(models, 2)) @ random.normal(size=(2, tasks))
    return 1 / (1 + np.exp(-shared - random.normal(size=tasks))) + 0.02 * random.normal(size=(models, tasks))


def problem(matrix: np.ndarray, k: int, **features: np.ndarray) -> Problem:
    """Whole tasks, weighing the same."""
    n = matrix.shape[1]
    return Problem(
        ids=np.array([f"{task:03d}" for task in range(n)]),
        groups=np.full(n, "all"),
        mass=np.full(n, 1 / n),
        features={"scores": matrix.T.copy(), **features},
        k=k,
        balanced=False,
    )


def naive_error(source: TaskSource, picks: list[int]) -> float:
    """Penalized error of the regression of the mean, by least squares on stacked rows."""
    gram, rows = source.gram, source.complete[:, picks]
    k, root = len(picks), np.sqrt(source.weights)
    unit = np.eye(k + 1)
    penalties = np.sqrt(gram.spread) * np.vstack([2 * unit[:k], [2 * unit[:k].sum(axis=0)], [4 * unit[k]]])
    design = np.vstack([root[:, None] * np.column_stack([rows, np.ones(len(rows))]), penalties])
    target = np.append(root * (source.complete.mean(axis=1) - rows.mean(axis=1)), np.zeros(k + 2))
    return float(((target - design @ np.linalg.lstsq(design, target, rcond=None)[0]) ** 2).sum())


@pytest.mark.parametrize("size", [1, 3, 7])
def test_the_error_of_a_set_is_that_of_its_regression(size: int):
    """The one matrix for all sets gives what a regression for each gives."""
    source = TaskSource(scores())
    picks = np.random.default_rng(size).permutation(12)[:size]

    assert np.isclose(naive_error(source, picks.tolist()), shrunk_fit(source.gram, np.full(12, 1 / 12)).error(picks))


def test_forward_steps_are_the_best_single_steps():
    """Gains order candidates as their errors do."""
    source = TaskSource(scores(1))
    fit = shrunk_fit(source.gram, np.full(12, 1 / 12))
    state = Conditional(fit)
    for _ in range(5):
        rest = [task for task in range(12) if task not in state.picks]
        expected = min(rest, key=lambda task: naive_error(source, [*state.picks, task]))
        gains = state.gains()

        assert expected == max(rest, key=lambda task: gains[task])
        state.take(expected)


def test_swaps_end_where_no_exchange_helps():
    """And never raise the error."""
    fit = shrunk_fit(TaskSource(scores(2)).gram, np.full(12, 1 / 12))
    available = np.ones(12, bool)
    start = np.array([0, 1, 2, 3])

    found = swap(fit, start, available)

    assert fit.error(found) < fit.error(start)
    for place in range(4):
        for task in np.setdiff1d(np.arange(12), found):
            other = found.copy()
            other[place] = task
            assert fit.error(other) >= fit.error(found) * (1 - 1e-9)


def test_rivals_and_costs_hold_through_swaps():
    """At most one of each group; never beyond the budget."""
    random = np.random.default_rng(0)
    fit = shrunk_fit(TaskSource(scores(3)).gram, np.full(12, 1 / 12))
    rivals, costs, available = np.repeat([0, 1, 2, -1], 3), random.uniform(1, 5, 12), np.ones(12, bool)
    start = np.array([0, 3, 6, 9])
    budget = costs[start].sum()

    found = swap(fit, start, available, rivals=rivals, costs=costs, budget=budget)

    grouped = rivals[found][rivals[found] >= 0]
    assert len(set(grouped.tolist())) == len(grouped)
    assert costs[found].sum() <= budget
    assert len(forward(fit, 12, NONE, available, rivals)) == 6  # one of each group, and three in none


@pytest.mark.parametrize("name", ["task_forward_ols", "task_sum_to_one"])
def test_least_squares_methods_pick_what_naive_ones_pick(name: str):
    """Step by step, a regression for each candidate."""
    matrix = scores(4)
    mean = matrix.mean(axis=1)

    def error(picks: list[int]) -> float:
        rows = matrix[:, picks]
        if name == "task_forward_ols":
            design, target = np.column_stack([rows, np.ones(len(rows))]), mean
        else:
            design, target = rows[:, 1:] - rows[:, :1], mean - rows[:, 0]
        fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0] if design.shape[1] else 0.0
        return float(((target - fitted) ** 2).sum())

    expected: list[int] = []
    for _ in range(5):
        expected.append(min(set(range(12)) - set(expected), key=lambda task: error([*expected, task])))

    assert expected == METHODS[name](problem(matrix, 5)).indices.tolist()


def test_information_methods_follow_their_determinants():
    """The largest entropy of the picks; the largest information shared with the rest, step by step."""
    matrix = scores(5)
    covariance = shrunk_covariance(matrix)

    def log_det(tasks: list[int]) -> float:
        return float(np.linalg.slogdet(covariance[np.ix_(tasks, tasks)])[1]) if tasks else 0.0

    def shared(picks: list[int]) -> float:
        return log_det(picks) + log_det([task for task in range(12) if task not in picks])

    for name, value in (("task_entropy", log_det), ("task_mutual_information", shared)):
        expected: list[int] = []
        for _ in range(5):
            rest = [task for task in range(12) if task not in expected]
            expected.append(max(rest, key=lambda task: value([*expected, task])))

        assert expected == METHODS[name](problem(matrix, 5)).indices.tolist()


def test_predictability_is_that_of_regressions_without_the_model():
    """The hat matrix gives what refitting for every model gives."""
    matrix, left = scores(6), [0, 2, 3, 7, 8, 11]
    others = left[1:]
    predicted = []
    for model in range(50):
        rest = np.arange(50) != model
        mean, target = matrix[rest][:, others].mean(axis=0), matrix[rest, 0]
        rows = matrix[rest][:, others] - mean
        slopes = np.linalg.lstsq(rows, target - target.mean(), rcond=None)[0]
        predicted.append(target.mean() + (matrix[model, others] - mean) @ slopes)
    ranks = [np.argsort(np.argsort(values)) for values in (np.array(predicted), matrix[:, 0])]

    assert np.isclose(np.corrcoef(*ranks)[0, 1], predictability(matrix, 0, left, np.ones(50)), atol=5e-3)


def test_copies_of_a_model_are_left_out_together():
    """A bootstrap sample is predicted as its models are by regressions without any copy of them."""
    distinct, left = scores(6, models=25) + np.random.default_rng(1).normal(scale=0.2, size=(25, 12)), list(range(8))
    matrix = distinct[np.random.default_rng(0).integers(0, 25, 40)]
    copies = copies_of(matrix)
    predicted = np.zeros(40)
    for model in range(40):
        rest = (matrix != matrix[model]).any(axis=1)
        mean, target = matrix[rest][:, 1:8].mean(axis=0), matrix[rest, 0]
        rows = matrix[rest][:, 1:8] - mean
        slopes = np.linalg.lstsq(rows, target - target.mean(), rcond=None)[0]
        predicted[model] = target.mean() + (matrix[model, 1:8] - mean) @ slopes

    expected = spearmanr(predicted.round(9), matrix[:, 0]).statistic

    assert copies.tolist() == [(matrix == row).all(axis=1).sum() for row in matrix]
    assert np.isclose(expected, predictability(matrix, 0, left, copies), atol=0.02)
    assert predictability(matrix, 0, left, np.ones(40)) > expected + 0.05


def test_ties_have_the_mean_of_their_ranks():
    """So that the order of models, of which many have the same score, changes nothing."""
    matrix = np.random.default_rng(3).integers(0, 3, (40, 5)) / 4
    shuffled = np.random.default_rng(4).permutation(40)

    values = [predictability(each, 0, [0, 1, 2], copies_of(each)) for each in (matrix, matrix[shuffled])]

    assert np.isclose(*values)


def test_a_task_that_others_predict_is_eliminated_first():
    """It comes last; a smaller k is a prefix."""
    matrix = scores(7, tasks=8)
    matrix[:, 5] = matrix[:, [0, 1, 2]].mean(axis=1)

    assert METHODS["task_backward_elimination"](problem(matrix, 8)).indices[-1] in {0, 1, 2, 5}


CLUSTERS = sorted(
    {name for name, entry in METHODS.items() if entry.whole_tasks}
    - {"task_bento", "task_backward_elimination", "task_leverage"}
)


@pytest.mark.parametrize("name", CLUSTERS)
def test_one_of_each_planted_cluster_is_picked(name: str):
    """Four clusters of tasks that say the same, on unrelated abilities."""
    random = np.random.default_rng(8)
    abilities = 0.5 + 0.15 * random.normal(size=(200, 4))
    matrix = np.repeat(abilities, 3, axis=1) + 0.005 * random.normal(size=(200, 12))

    picks = METHODS[name](problem(matrix, 4)).indices

    assert sorted(set((picks // 3).tolist())) == [0, 1, 2, 3]


def test_bento_picks_tasks_whose_examples_help_all_others():
    """The best pair of sources under planted transfer; the first pick is the best single one."""
    transfer = np.random.default_rng(9).random((8, 8)) * 0.1
    transfer[:4, 6] = transfer[4:, 1] = 1.0

    picks = METHODS["task_bento"](problem(scores(9, tasks=8), 2, transfer=transfer)).indices

    assert sorted(picks.tolist()) == [1, 6]


@pytest.mark.parametrize("seed", range(5))
def test_the_default_is_among_the_best_sets_of_three(seed: int):
    """Of all 220, a twentieth at most has less penalized error: exchanges need not find the very best."""
    fit = shrunk_fit(TaskSource(scores(seed)).gram, np.full(12, 1 / 12))
    errors = np.array([fit.error(np.array(picks)) for picks in combinations(range(12), 3)])

    found = METHODS["task_shrunk_swaps"](problem(scores(seed), 3)).indices

    assert (errors < fit.error(found) * (1 - 1e-9)).sum() <= 11


def test_missing_cells_are_filled_and_hardly_change_the_default():
    """A tenth of the cells gone: what is picked predicts about as well."""
    matrix = scores(10, models=150)
    gaps = np.random.default_rng(0).random(matrix.shape) < 0.1
    fit = shrunk_fit(TaskSource(matrix).gram, np.full(12, 1 / 12))
    whole, holed = problem(matrix, 4), problem(np.where(gaps, np.nan, matrix), 4)

    errors = [fit.error(METHODS["task_shrunk_swaps"](each).indices) for each in (whole, holed)]

    assert errors[1] < 1.5 * errors[0]


def test_includes_are_kept_and_the_rest_makes_the_best_of_them():
    """Includes come first in their order and are never exchanged."""
    posed = replace(problem(scores(11), 5), include=np.array([7, 2]), exclude=np.array([0, 1]))

    found = METHODS["task_shrunk_swaps"](posed).indices

    assert found[:2].tolist() == [7, 2]
    assert not {0, 1} & set(found.tolist())
