"""What error to expect of the default choice: on models that were used neither for choosing nor for learning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.task_estimators import TASK_ESTIMATORS
from benchcore.estimation.task_source import TaskSource
from benchcore.leaderboard.default import ESTIMATOR, fit_of, pick_by
from benchcore.leaderboard.judging import Verdict, judge, known_mean, most_complete, resampled, spread
from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.leaderboard.rules import Rules
from benchcore.leaderboard.splits import Splitter

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

REPEATS = 50
_MOST_CELLS = 10**5  # of a matrix that is split so often; larger ones are split less often
_LEAST_REPEATS = 3
_PART_CELLS = 4 * 10**5  # of a matrix larger than this, only so many models take part in a split, and at least
_LEAST_PART = 200
_SAMPLES = 20  # bootstrap samples of the models of a split
_LEAST_JUDGED = 10  # models of a split; where fewer have all picks, those with the most are judged


@dataclass(frozen=True, eq=False)
class Expected:
    """Errors of the default choice of some size under one kind of split, in points of a hundred.

    Attributes:
        split: `random`, `family` or `strongest`.
        k: how many tasks are picked; with a budget the most that were.
        mae: mean absolute error of the mean over tasks.
        low: of the interval in which 90 % of the splits' errors lie; with the strongest held out, which are the same in
            every split, of errors over bootstrap samples of them.
        high: of it.
        kendall_tau: of the ranking of the models that were held out.
        top1_regret: how far the model predicted best is behind the best.
        tasks: (tasks,) mean absolute error of each task where it was not picked; NaN where it always was.
        repeats: splits.
        judged: models held out that were judged, the mean over splits: those with a score on every pick, or with the
            most where there are few of these.
        scored: picks on which these have a score, the mean over models and splits.
    """

    split: str
    k: int
    mae: float
    low: float
    high: float
    kendall_tau: float
    top1_regret: float
    tasks: Floats
    repeats: int
    judged: float
    scored: float


@dataclass(frozen=True, eq=False)
class _Trial:
    """One split: a verdict, errors over bootstrap samples of the judged models, and what was judged."""

    verdict: Verdict
    resampled: Floats
    picks: Indices
    judged: int
    scored: float


def repeats_for(matrix: ScoreMatrix) -> int:
    """How often a leaderboard of this size is split by default."""
    cells = max(1, matrix.scores.size)
    return max(_LEAST_REPEATS, min(REPEATS, REPEATS * _MOST_CELLS // cells))


def expected_errors(
    matrix: ScoreMatrix,
    ks: Sequence[int | None],
    rules: Rules,
    *,
    splits: Sequence[str] = ("random", "strongest"),
    repeats: int | None = None,
    seed: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Expected]:
    """Choose anew on a part of the models, predict the others, and say how wrong that is.

    Args:
        matrix: the leaderboard; of a large one a part of the models is drawn for each split.
        ks: how many tasks are picked; None: as many as the budget of the rules pays for.
        rules: limits of the choice.
        splits: kinds of split; one that the leaderboard does not allow is left out.
        repeats: splits of each kind; None: `repeats_for`.
        seed: of all draws.
        advance: told after each split that one more is done; there are `len(splits) * repeats`.

    Returns:
        One for each kind of split and k, in this order.
    """
    times, found = repeats or repeats_for(matrix), list[Expected]()
    for kind in splits:
        trials: list[list[_Trial]] = [[] for _ in ks]
        for number in range(times):
            part = _part(matrix, seed, number)
            try:
                drawn = Splitter(part, kind, seed).draw(number)
            except UsageError:
                advance(times - number)
                break
            source, truth = TaskSource(part.scores[drawn.source]), part.scores[drawn.held]
            fit, centre = fit_of(source), source.complete.mean(axis=0)
            for place, k in enumerate(ks):
                trials[place].append(_trial(source, truth, centre, pick_by(fit, k, rules), [seed, number]))
            advance(1)
        found += [_together(kind, each) for each in trials if each]
    return found


def _trial(source: TaskSource, truth: Floats, centre: Floats, picks: Indices, draw: list[int]) -> _Trial:
    """Judge the models whose scores say what the picks are worth: those that have them."""
    chosen = truth[most_complete(truth[:, picks], _LEAST_JUDGED)]
    predicted = TASK_ESTIMATORS[ESTIMATOR](source, picks, chosen[:, picks])
    verdict = judge(predicted, chosen, centre)
    scored = (~np.isnan(chosen[:, picks])).sum(axis=1)
    again = np.array([resampled(verdict.models, [*draw, sample]) for sample in range(_SAMPLES)])
    return _Trial(verdict, again, picks, len(chosen), known_mean(scored.astype(np.float64)))


def _part(matrix: ScoreMatrix, seed: int, number: int) -> ScoreMatrix:
    most = max(_LEAST_PART, _PART_CELLS // max(1, len(matrix.tasks)))
    if len(matrix.models) <= most:
        return matrix
    rows = np.random.default_rng([seed, number]).permutation(len(matrix.models))[:most]
    return matrix.of_models(np.sort(rows))


def _together(kind: str, trials: Sequence[_Trial]) -> Expected:
    verdicts = [trial.verdict for trial in trials]
    errors = np.array([verdict.mae for verdict in verdicts])
    tasks = np.array([verdict.tasks for verdict in verdicts])
    for row, trial in zip(tasks, trials, strict=True):
        row[trial.picks] = np.nan
    known = ~np.isnan(tasks)
    of_tasks = np.where(known, tasks, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
    low, high = spread(np.concatenate([trial.resampled for trial in trials]) if kind == "strongest" else errors)
    return Expected(
        split=kind,
        k=max(len(trial.picks) for trial in trials),
        mae=known_mean(errors),
        low=low,
        high=high,
        kendall_tau=known_mean(np.array([verdict.kendall_tau for verdict in verdicts])),
        top1_regret=known_mean(np.array([verdict.top1_regret for verdict in verdicts])),
        tasks=of_tasks,
        repeats=len(trials),
        judged=float(np.mean([trial.judged for trial in trials])),
        scored=known_mean(np.array([trial.scored for trial in trials])),
    )
