"""The default choice: what it picks, within which limits, and what it says of models it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.errors import UsageError
from benchcore.estimation.task_estimators import TASK_ESTIMATORS
from benchcore.estimation.task_source import TaskSource
from benchcore.leaderboard.default import ESTIMATOR, METHOD, _conformal, choose
from benchcore.methods import METHODS
from tests.leaderboard.planted import planted


def cluster(task: str) -> int:
    """Number of the planted cluster of a task."""
    return int(task.removeprefix("task")) // 4


def test_one_of_each_cluster_is_picked():
    """Four picks for four clusters."""
    assert sorted(map(cluster, choose(planted(), 4).tasks)) == [0, 1, 2, 3]


def test_the_choice_is_the_registered_method_and_estimator():
    """As they are named, to the last pick and nearly the last bit."""
    matrix = planted(1)
    choice = choose(matrix, 5)

    from tests.methods.test_task_level import problem

    assert list(choice.picks) == METHODS[METHOD](problem(matrix.scores, 5)).indices.tolist()
    picked = np.vstack([matrix.scores[:, list(choice.picks)], np.ones(5), np.zeros(5)])
    expected = TASK_ESTIMATORS[ESTIMATOR](TaskSource(matrix.scores), np.array(choice.picks), picked)
    assert np.allclose(expected, choice.predictor.predict(picked))


def test_limits_are_kept():
    """Includes first, excludes never, at most one of a group, and no more than the budget."""
    matrix = planted(2)
    free = choose(matrix, 4)

    choice = choose(
        matrix, 6, include=["task15", "task00"], exclude=[free.tasks[0]],
        at_most_one=[["task04", "task05", "task06", "task07"]],
    )  # fmt: skip
    within = choose(matrix, None, budget=9.0, include=["task03"])

    assert choice.tasks[:2] == ("task15", "task00")
    assert free.tasks[0] not in choice.tasks
    assert sum(cluster(task) == 1 for task in choice.tasks) <= 1
    assert within.tasks[0] == "task03"
    assert matrix.costs is not None
    spent = matrix.costs[list(within.picks)].sum()
    rest = np.setdiff1d(np.arange(16), within.picks)
    assert spent <= 9.0 < spent + matrix.costs[rest].min()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"k": 17}, "cannot pick 17 of 16 tasks"),
        ({"k": 0}, "cannot pick 0"),
        ({}, "neither a number of tasks nor a budget"),
        ({"k": 3, "include": ["task99"]}, "unknown task 'task99'"),
        ({"k": 3, "include": ["task01"], "exclude": ["task01"]}, "both included and excluded: task01"),
        ({"k": 1, "include": ["task01", "task02"]}, "cannot pick 1"),
        ({"k": 3, "include": ["task01", "task01"]}, "named twice"),
        ({"k": 16, "at_most_one": [["task01", "task02"]]}, "15 can be picked together"),
        ({"k": 3, "include": ["task01", "task02"], "at_most_one": [["task01", "task02"]]}, "at most one"),
        ({"k": 3, "at_most_one": [["task01", "task02"], ["task02"]]}, "'task02' is in two groups"),
        ({"budget": 0.5}, "no task costs 0.5 or less"),
        ({"budget": 3.0, "include": ["task00", "task01", "task02"]}, "more than the budget of 3"),
    ],
)
def test_what_cannot_be_is_said(asked: dict, said: str):
    """In a line that names the tasks and the figures."""
    with pytest.raises(UsageError, match=said):
        choose(planted(), **asked)


def test_a_budget_needs_costs():
    """Costs are never guessed."""
    with pytest.raises(UsageError, match="no costs are known"):
        choose(replace(planted(), costs=None), 3, budget=5.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.6, 0.75])
def test_intervals_hold_for_models_that_were_not_seen(missing: float):
    """Nine in ten, of the mean and of tasks, on new models of the same kind; with most cells missing hardly fewer."""
    held, within, of_tasks = planted(3, models=400, noise=0.03).scores, [], []
    for start in range(0, 300, 60):
        matrix = planted(3, models=400, noise=0.03, missing=missing).of_models(range(start, start + 60))
        choice = choose(matrix, 4)
        truth = held[300:]
        predicted = choice.predictor.predict(truth[:, list(choice.picks)])
        within.append(np.abs(predicted.mean(axis=1) - truth.mean(axis=1)) <= choice.within.mean)
        others = np.setdiff1d(np.arange(16), choice.picks)
        of_tasks.append(np.abs(predicted - truth)[:, others] <= choice.within.tasks[others])

    assert 0.87 < np.mean(within) < (0.99 if missing <= 0.3 else 1)
    assert 0.87 < np.mean(of_tasks) < 0.99


@pytest.mark.parametrize("errors", [1, 2, 5, 8, 9, 30])
def test_a_few_errors_tell_a_width_that_holds_nine_in_ten(errors: int):
    """Where no rank of theirs does, a multiple of their root mean square."""
    random, held = np.random.default_rng(errors), []
    for _ in range(4000):
        width = _conformal(np.abs(random.normal(scale=0.01, size=errors)), np.ones(errors, np.int64))
        held.append(abs(random.normal(scale=0.01)) <= width)

    assert 0.885 < np.mean(held) < 0.95


def test_a_handful_of_models_is_enough_to_choose():
    """Fewer models than tasks; two."""
    for models in (2, 5):
        choice = choose(planted(4, models=models), 3)

        assert len(set(choice.picks)) == 3
        assert np.isfinite(choice.within.mean)
        assert np.isfinite(choice.predictor.predict_mean(np.full((1, 3), 0.5))).all()


def test_every_task_can_be_picked():
    """Then the mean is known."""
    matrix = planted(5)
    choice = choose(matrix, 16)

    predicted = choice.predictor.predict_mean(matrix.scores[:, list(choice.picks)])

    assert np.allclose(matrix.scores.mean(axis=1), predicted)
    assert np.isclose(0, choice.within.mean)
