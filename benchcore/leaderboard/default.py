"""The default choice of tasks: which ones, and what their scores say of all others and of the mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.task_estimators import TASK_ESTIMATORS
from benchcore.estimation.task_regressions import toward_mean
from benchcore.estimation.task_source import TaskSource
from benchcore.leaderboard.judging import LEVEL
from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.leaderboard.predictor import Predictor, Term
from benchcore.leaderboard.rules import Rules, rules_for
from benchcore.methods.task_level.fit import Conditional, Fit, forward, shrunk_fit, swap
from benchcore.methods.task_level.fit import choose as best_set

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

METHOD, ESTIMATOR = "task_shrunk_swaps", "shrunk_blend"
_FOLDS, _LARGE = 10, 10**6  # of a matrix with more cells than this one fold is left out alone
_BEYOND = 0.3  # share of the strongest models that are held out to learn how wrong the estimator is beyond what it saw
_MOST_HELD = 200  # models in that one fold, and of the strongest in a large matrix
_ENOUGH = 9  # errors, the fewest of which a rank holds 90 %: as many are of models with the most picks
# Where there are fewer than 9 errors, no rank of theirs holds 90 %: Student's t with as many degrees of freedom.
_LEAST_KEPT = 0.25  # of the mean square of errors of means over some of the tasks, once sampling is taken off
_STUDENT = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860)


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
    """

    picks: tuple[int, ...]
    tasks: tuple[str, ...]
    method: str
    estimator: str
    predictor: Predictor
    within: Widths
    beyond: Widths


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
    models left out in tenths (one fold where the matrix is large), and for models beyond all that were seen from the
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
    return Choice(
        picks=tuple(int(task) for task in picks),
        tasks=tuple(matrix.tasks[task] for task in picks),
        method=METHOD,
        estimator=ESTIMATOR,
        predictor=predictor_of(source, picks),
        **_widths(source, picks, rules),
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
    """Each fold's models are predicted by what is learnt from the others alone, gaps and all."""
    models, large = len(source.scores), source.scores.size > _LARGE
    most = _MOST_HELD if large else models
    turn = np.random.default_rng(0).permutation(models)
    parts = [turn[: min(most, models // 2)]] if large else [turn[fold::_FOLDS] for fold in range(min(models, _FOLDS))]
    order = np.argsort(source.complete.mean(axis=1), kind="stable")
    top = order[models - max(1, round(_BEYOND * models)) :]
    within = _quantiles(source.scores, picks, rules, [(np.delete(turn, np.isin(turn, held)), held) for held in parts])
    far = _quantiles(source.scores, picks, rules, [(np.setdiff1d(turn, top), top[-most:])])
    beyond = Widths(np.maximum(within.tasks, far.tasks), max(within.mean, far.mean))
    return {"within": within, "beyond": beyond}


def _quantiles(scores: Floats, picks: Indices, rules: Rules, folds: Sequence[tuple[Indices, Indices]]) -> Widths:
    """90 % quantiles of absolute errors for models left out: of tasks by these picks, of the mean by new ones.

    Picks that were chosen on all models predict the mean of these models better than that of others.

    Args:
        scores: (models, tasks), NaN where missing.
        picks: that were chosen on all models.
        rules: limits of the choice.
        folds: models that are learnt from, and others that are predicted.
    """
    wrong, had = list[Floats](), list[Indices]()
    of_mean, had_anew = list[Floats](), list[Indices]()
    for rest, held in folds:
        learnt, truth = TaskSource(scores[np.sort(rest)]), scores[held]
        if len(rest) < 2 or np.isnan(learnt.scores).all():
            continue
        wrong.append(np.abs(_apart(learnt, picks, truth)))
        had.append((~np.isnan(truth[:, picks])).sum(axis=1))
        anew = pick(learnt, len(picks), rules)
        of_mean.append(_of_mean(_apart(learnt, anew, truth), anew))
        had_anew.append((~np.isnan(truth[:, anew])).sum(axis=1))
    if not wrong:
        return Widths(np.ones(scores.shape[1]), 1.0)
    errors, counts = np.concatenate(wrong), np.concatenate(had)
    widths = np.array([_conformal(column, counts) for column in errors.T])
    widths[picks] = 0.0
    return Widths(widths, _conformal(np.concatenate(of_mean), np.concatenate(had_anew)))


def _apart(source: TaskSource, picks: Indices, truth: Floats) -> Floats:
    """(models, tasks) what is predicted less what is so, from the picks that each model has; NaN where not known."""
    return np.asarray(TASK_ESTIMATORS[ESTIMATOR](source, picks, truth[:, picks]) - truth, np.float64)


def _of_mean(apart: Floats, picks: Indices) -> Floats:
    """(models,) absolute error of the mean over all tasks, as those with a score tell it; NaN where none does.

    A mean over some of the tasks errs by more than that over all: by as much as sampling without replacement adds to a
    mean square, errors are made smaller.
    """
    rest = np.delete(apart, picks, axis=1)
    known = ~np.isnan(rest)
    count, tasks = known.sum(axis=1), rest.shape[1]
    share = tasks / apart.shape[1]
    mean = np.where(known, rest, 0.0).sum(axis=1) / np.maximum(count, 1)
    found = np.where(count > 0, share * np.abs(mean), np.nan if tasks else 0.0)
    scattered = (np.where(known, rest - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(count - 1, 1)
    added = share**2 * scattered / np.maximum(count, 1) * (1 - count / max(1, tasks))
    told = count > 1
    whole = float((found[told] ** 2).sum())
    kept = max(_LEAST_KEPT, 1 - float(added[told].sum()) / whole) if whole > 0 else 1.0
    return np.asarray(found * np.sqrt(kept), np.float64)


def _conformal(errors: Floats, counts: Indices) -> float:
    """The 90 % quantile of absolute errors, one rank up for the model to come.

    Args:
        errors: (models,), NaN where not known.
        counts: (models,) how many picks each error was predicted from; those with the most are enough.
    """
    known = ~np.isnan(errors)
    errors, counts = errors[known], counts[known]
    if errors.size == 0:
        return 1.0
    least = np.sort(counts)[-min(_ENOUGH, errors.size)]
    errors = np.sort(errors[counts >= least])
    rank = int(np.ceil(LEVEL * (errors.size + 1)))
    if rank > errors.size:
        return min(1.0, _STUDENT[errors.size - 1] * float(np.sqrt((errors**2).mean())))
    return float(errors[rank - 1])
