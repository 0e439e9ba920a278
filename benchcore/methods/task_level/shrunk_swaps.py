"""The tasks from which a regression that shrinks towards their plain mean best predicts the mean of all."""

from __future__ import annotations

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.task_level.fit import choose, shrunk_fit
from benchcore.methods.task_level.source import task_source
from benchcore.methods.unvalued import unvalued


def shrunk_swaps(problem: Problem) -> Selection:
    """Pick by forward selection and exchanges, from several starts, under the penalized error of `shrunk_linear`.

    Stronger source models count more, and weights far from 1/k, sums far from 1 and shifts far from 0 are penalized: so
    that picks are good for models that are better than all that were seen, too. Picks come in an order of their own:
    the most useful first.

    Args:
        problem: with the block `scores`.

    Raises:
        ValueError: there is no score.
    """
    fit = shrunk_fit(task_source(problem).gram, problem.mass)
    return unvalued(choose(fit, problem.k, problem.include, problem.available))
