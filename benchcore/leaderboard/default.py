"""The default choice of tasks: which ones, and what their scores say of all others and of the mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.task_estimators import shrunk_blend
from benchcore.estimation.task_regressions import toward_mean
from benchcore.estimation.task_source import TaskSource
from benchcore.leaderboard.judging import LEVEL as LEVEL  # noqa: PLC0414  the level of a choice's intervals is its own
from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.leaderboard.predictor import Predictor, Term
from benchcore.leaderboard.rules import Rules, rules_for
from benchcore.methods.task_level.fit import Conditional, Fit, forward, shrunk_fit, swap
from benchcore.methods.task_level.fit import choose as best_set

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

METHOD, ESTIMATOR = "task_shrunk_swaps", "shrunk_blend"
_FOLDS, _FEW_FOLDS, _LARGE = 10, 4, 10**6  # a large matrix (cells) is chosen from anew less often
_BEYOND = 0.3  # share of the strongest models that are held out to learn how wrong the estimator is beyond what it saw
_MOST_MODELS = 500  # that intervals are learnt from


@dataclass(frozen=True, eq=False)
class Widths:
    """Half widths of 90 % intervals, in the matrix's scale.

    Attributes:
        tasks: (tasks,) of each task's score; zero for picks.
        mean: of the mean over all tasks.
    """

    tasks: Floats
    mean: float


@dataclass(frozen=True, eq=False)
class Choice:
    """Tasks that were chosen, with all that is needed to predict the others.

    Attributes:
        picks: positions of the picked tasks, includes first, then the most useful first.
        tasks: their names.
        method: that chose.
        estimator: that predicts.
        predictor: from scores on the picks to scores on all tasks.
        within: how wrong predictions are for models like those that were seen.
        beyond: how wrong they are for models stronger than all that were learnt from; never less than `within`.
        low: (k,) lowest score on each pick that was seen.
        high: (k,) highest.
        strongest: the highest mean that was seen.
    """

    picks: tuple[int, ...]
    tasks: tuple[str, ...]
    method: str
    estimator: str
    predictor: Predictor
    within: Widths
    beyond: Widths
    low: Floats
    high: Floats
    strongest: float


def choose(
    matrix: ScoreMatrix,
    k: int | None = None,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    budget: float | None = None,
    at_most_one: Sequence[Collection[str]] | None = None,
) -> Choice:
    """Choose whole tasks from which the mean over all and every other task are predicted best.

    Picks: forward selection and exchanges under a regression that shrinks towards the plain mean of the picks, strong
    models counting more. Predictions: the mean of that regression on scores and on their log odds. Intervals: from
    models left out in tenths (in quarters where the matrix is large), and for models beyond all that were seen from the
    strongest 30 % left out.

    Args:
        matrix: the leaderboard.
        k: how many; may be left out with a budget.
        include: tasks that must be picked.
        exclude: tasks that must not.
        budget: largest sum of the picks' costs.
        at_most_one: groups of tasks of each of which at most one is picked.

    Raises:
        UsageError: what is asked contradicts itself or the leaderboard.
    """
    rules = rules_for(matrix, include, exclude, budget, at_most_one)
    require_size(rules, k, len(matrix.tasks))
    source = TaskSource(matrix.scores)
    picks = pick(source, k, rules)
    scores = source.complete
    return Choice(
        picks=tuple(int(task) for task in picks),
        tasks=tuple(matrix.tasks[task] for task in picks),
        method=METHOD,
        estimator=ESTIMATOR,
        predictor=predictor_of(source, picks),
        **_widths(source, picks, rules),
        low=scores[:, picks].min(axis=0),
        high=scores[:, picks].max(axis=0),
        strongest=float(scores.mean(axis=1).max()),
    )


def require_size(rules: Rules, k: int | None, tasks: int) -> None:
    """Refuse a number of picks that the limits do not allow.

    Raises:
        UsageError: there is neither k nor a budget, or k is too small or too large.
    """
    if k is None:
        if rules.budget is None:
            raise UsageError("neither a number of tasks nor a budget is given", "-k", "For example -k 8.")
        return
    if not max(1, len(rules.include)) <= k <= rules.most:
        most = rules.most
        left = "" if most == tasks else f" ({most} can be picked together under the limits that are set)"
        raise UsageError(
            f"cannot pick {k:,} of {tasks:,} tasks{left}", "-k", f"Choose from {max(1, len(rules.include))} to {most}."
        )


def pick(source: TaskSource, k: int | None, rules: Rules) -> Indices:
    """Choose tasks within limits; fewer than k where a budget leaves no more."""
    return pick_by(fit_of(source), k, rules)


def fit_of(source: TaskSource) -> Fit:
    """The regression of the mean over tasks, by whose error tasks are chosen."""
    tasks = source.scores.shape[1]
    return shrunk_fit(source.gram, np.full(tasks, 1 / tasks))


def pick_by(fit: Fit, k: int | None, rules: Rules) -> Indices:
    """The same with a regression that is there: for several k."""
    tasks = fit.tasks
    if rules.costs is None or rules.budget is None:
        return best_set(fit, k or tasks, rules.include, rules.available, rules.rivals)
    greedy = [_within_budget(fit, k or tasks, rules, by_cost=by_cost) for by_cost in (True, False)]
    swapped = [
        swap(
            fit,
            each,
            rules.available,
            fixed=len(rules.include),
            rivals=rules.rivals,
            costs=rules.costs,
            budget=rules.budget,
        )
        for each in greedy
    ]
    chosen = np.zeros(tasks, bool)
    chosen[min(swapped, key=fit.error)] = True
    chosen[rules.include] = False
    return forward(fit, int(chosen.sum()) + len(rules.include), rules.include, chosen)


def _within_budget(fit: Fit, k: int, rules: Rules, *, by_cost: bool) -> Indices:
    """Greedy picks by gain, or by gain for cost, among those that the rest of the budget pays for."""
    costs, budget = np.asarray(rules.costs), float(rules.budget or 0.0)
    state, free, left = Conditional(fit), rules.available.copy(), budget
    for step in range(k):
        if step < len(rules.include):
            best = int(rules.include[step])
        else:
            allowed = free & (costs <= left)
            if not allowed.any():
                break
            worth = state.gains() / costs if by_cost else state.gains()
            best = int(np.argmax(np.where(allowed, worth, -1.0)))
        state.take(best)
        free[best] = False
        left -= float(costs[best])
        if rules.rivals is not None and rules.rivals[best] >= 0:
            free &= rules.rivals != rules.rivals[best]
    return np.array(state.picks, np.int64)


def predictor_of(source: TaskSource, picks: Indices) -> Predictor:
    """The estimator `shrunk_blend`, learnt and written as parameters."""
    plain, odds = toward_mean(source.gram, picks), toward_mean(source.logit_gram, picks)
    terms = (Term("identity", plain[-1], plain[:-1]), Term("logit", odds[-1], odds[:-1]))
    return Predictor(tuple(int(task) for task in picks), source.scores.shape[1], terms)


def _widths(source: TaskSource, picks: Indices, rules: Rules) -> dict[str, Widths]:
    models = len(source.scores)
    rows = np.linspace(0, models - 1, min(models, _MOST_MODELS)).astype(np.int64)
    # Gaps stay filled as the whole matrix fills them: completing it anew for each fold would take minutes.
    scores, filled = source.scores[rows], source.complete[rows]
    parts = min(len(rows), _FOLDS if source.scores.size <= _LARGE else _FEW_FOLDS)
    turn = np.random.default_rng(0).permutation(len(rows)) % parts
    order = np.argsort(filled.mean(axis=1), kind="stable")
    top = order[len(rows) - max(1, round(_BEYOND * len(rows))) :]
    folds = [np.flatnonzero(turn == fold) for fold in range(parts)]
    within = _quantiles(scores, filled, picks, rules, folds)
    far = _quantiles(scores, filled, picks, rules, [top])
    beyond = Widths(np.maximum(within.tasks, far.tasks), max(within.mean, far.mean))
    return {"within": within, "beyond": beyond}


def _quantiles(scores: Floats, filled: Floats, picks: Indices, rules: Rules, folds: Sequence[Indices]) -> Widths:
    """90 % quantiles of absolute errors for models left out: of tasks by these picks, of the mean by new ones.

    Picks that were chosen on all models predict the mean of these models better than that of others.
    """
    wrong, of_mean = np.full(scores.shape, np.nan), []
    for held in folds:
        rest = np.setdiff1d(np.arange(len(scores)), held)
        if len(rest) < 2:
            continue
        learnt = TaskSource(filled[rest])
        wrong[held] = np.abs(shrunk_blend(learnt, picks, filled[np.ix_(held, picks)]) - scores[held])
        anew = pick(learnt, len(picks), rules)
        apart = shrunk_blend(learnt, anew, filled[np.ix_(held, anew)]) - scores[held]
        of_mean.append(np.abs(np.nanmean(apart, axis=1)))
    widths = np.array([_conformal(wrong[:, task]) for task in range(scores.shape[1])])
    widths[picks] = 0.0
    return Widths(widths, _conformal(np.concatenate(of_mean) if of_mean else np.zeros(0)))


def _conformal(errors: Floats) -> float:
    """The 90 % quantile of absolute errors, one rank up for the model to come; the largest where there are few."""
    known = np.sort(errors[~np.isnan(errors)])
    if known.size == 0:
        return 1.0
    return float(known[min(known.size, int(np.ceil(LEVEL * (known.size + 1)))) - 1])
