"""Errors of one estimator on the picks of one method on one sub-pool."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample, Scores
from benchcore.lab.contestants import CONTROL, HEADLINE, Contestant, Judge
from benchcore.lab.coverage import held, intervals
from benchcore.lab.luck import permuted_errors
from benchcore.lab.picking import Picked
from benchcore.lab.pieces import Arrays
from benchcore.lab.protocol import Trial, benchmark_means
from benchcore.lab.targets import benchmark_errors, micro_errors

# Seeds with which estimators are measured that compare vectors, which takes its time.
FEW_DRAWS = 2
# True gaps between two models, in [0, 1], by which their order is judged.
GAPS = (0.01, 0.02, 0.05)
# Fits on the panel alone, which all picks share.
_ITEM_RESPONSE = "item_response"


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of estimated macro scores, by budget and model, means over draws; NaN for models that are not scored.

    Attributes:
        absolute: (budgets, models).
        squared: (budgets, models).
        signed: (budgets, models) estimate less truth.
        truth: (models,) true scores, mean over draws where scores are permuted.
        micro: (budgets, models) absolute errors of the mean over prompts, with the headline estimator; else NaN.
        benchmark: (budgets, models) mean over benchmarks of the absolute error of each, likewise.
        covered: (budgets, models) how often the interval of a random design holds the true score; NaN without one.
        width: (budgets, models) of the interval.
        picks: (budgets,) how many there are.
        cost: (budgets,) characters of a pick, relative to what those of the control have on average.
        gap: (budgets,) mean squared error of the difference between two models, over all pairs.
        tau: (budgets,) Kendall's tau-b between estimated and true scores.
        agreeing: (budgets, gaps) pairs of models in the right order by true gap, ties as half; of the first draw.
        pairs: (budgets, gaps) all pairs.
        luck: (budgets, permutations) mean absolute errors with permuted scores, with the headline estimator and of
            other methods than the control; else (budgets, 0).
        regret: (budgets,) by how much the model that looks best is worse than the best.
    """

    absolute: NDArray[np.float64]
    squared: NDArray[np.float64]
    signed: NDArray[np.float64]
    truth: NDArray[np.float64]
    agreeing: NDArray[np.float64]
    pairs: NDArray[np.float64]
    luck: NDArray[np.float64]
    micro: NDArray[np.float64]
    benchmark: NDArray[np.float64]
    covered: NDArray[np.float64]
    width: NDArray[np.float64]
    picks: NDArray[np.float64]
    cost: NDArray[np.float64]
    gap: NDArray[np.float64]
    tau: NDArray[np.float64]
    regret: NDArray[np.float64]

    def arrays(self) -> Arrays:
        """As they are kept."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def errors_of(arrays: Arrays) -> Errors:
    """Errors as they were kept."""
    return Errors(**arrays)


def scored_models(trial: Trial, contestant: Contestant, judge: Judge) -> NDArray[np.int64]:
    """All models, or those that neither the method nor the estimator may look at."""
    if contestant.entry.score_free and not judge.panel:
        return np.arange(len(trial.suite.models))
    return trial.split.held


def assess(trial: Trial, contestant: Contestant, judge: Judge, picked: Picked) -> Errors:
    """Estimate the macro score of every scored model from each draw's picks, and compare with the truth.

    Args:
        trial: the sub-pool.
        contestant: whose picks they are.
        judge: the estimator.
        picked: the picks.
    """
    models = scored_models(trial, contestant, judge)
    draws = len(picked.indices)
    if judge.entry.needs_embedding:
        draws = min(draws, FEW_DRAWS)
    elif judge.name != HEADLINE and contestant.entry.drawn:
        draws = min(draws, trial.protocol.draws)
    shape = (len(trial.protocol.ks), len(trial.suite.models))
    sums = _nothing(*shape)
    if judge.name == HEADLINE and contestant.name != CONTROL and trial.protocol.ablation is None:
        sums = replace(sums, luck=permuted_errors(trial, picked.indices, models))
    for sheet in (sums.absolute, sums.squared, sums.signed, sums.truth):
        sheet[..., models] = 0.0
    estimated = np.zeros(shape)
    if judge.name == HEADLINE:
        _other_targets(trial, picked, models, draws, sums)
        _cover(trial, contestant, picked, models, sums)
    extra, panel = _panel(trial, judge)
    for draw in range(draws):
        scores, truth = trial.scores(draw)[:, models], trial.truth(draw)[models]
        sums.truth[models] += truth / draws
        for place in range(shape[0]):
            sample = Sample(
                indices=picked.indices[draw][place],
                groups=trial.groups,
                mass=trial.mass,
                features={**trial.features, **extra},
                own=picked.own[draw][place],
                panel=panel,
            )
            estimate = _estimate(judge, sample, scores)
            error = estimate - truth
            known = np.nan_to_num(error)  # a model without a score on the picks of some draw counts in the others
            estimated[place, models] += np.isfinite(error)
            sums.absolute[place, models] += np.abs(known)
            sums.squared[place, models] += known**2
            sums.signed[place, models] += known
            sums.picks[place] += len(sample.indices) / draws
            sums.cost[place] += trial.relative_lengths[sample.indices].mean() / draws
            if draw == 0:
                sums.agreeing[place], sums.pairs[place] = pair_agreement(estimate, truth)
            sums.gap[place] += _gap_error(error) / draws
            sums.tau[place] += rank_correlation(estimate, truth) / draws
            sums.regret[place] += top1_regret(estimate, truth) / draws
    counts = np.where(estimated > 0, estimated, np.nan)
    return replace(sums, absolute=sums.absolute / counts, squared=sums.squared / counts, signed=sums.signed / counts)


def _other_targets(trial: Trial, picked: Picked, models: NDArray[np.int64], draws: int, sums: Errors) -> None:
    """Add errors of the mean over prompts and of each benchmark, from equal weights inside benchmarks."""
    sums.micro[:, models] = sums.benchmark[:, models] = 0.0
    for draw in range(draws):
        scores, truth = trial.scores(draw)[:, models], trial.benchmark_truth(draw)[:, models]
        for place, indices in enumerate(picked.indices[draw]):
            estimate = benchmark_means(scores[indices], trial.groups[indices], len(truth))
            sums.micro[place, models] += np.abs(micro_errors(estimate, truth, trial.prompt_shares)) / draws
            sums.benchmark[place, models] += benchmark_errors(estimate, truth) / draws


def _cover(trial: Trial, contestant: Contestant, picked: Picked, models: NDArray[np.int64], sums: Errors) -> None:
    """Add how often intervals hold the true scores, over the first draws, and how wide they are."""
    draws = min(len(picked.indices), trial.protocol.draws)
    for draw in range(draws):
        scores, truth = trial.scores(draw)[:, models], trial.truth(draw)[models]
        for place, indices in enumerate(picked.indices[draw]):
            found = intervals(trial, contestant.name, indices, scores[indices])
            if found is None:
                return
            if draw == 0:
                sums.covered[place, models] = sums.width[place, models] = 0.0
            sums.covered[place, models] += held(found, truth)
            sums.width[place, models] += found.high - found.low
    sums.covered[:, models] /= draws
    sums.width[:, models] /= draws


def pair_agreement(estimate: Scores, truth: Scores) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count pairs of models in the right order, and all pairs, by their true gap.

    Args:
        estimate: (models,).
        truth: (models,).

    Returns:
        (len(GAPS) + 1,) each; pairs without a gap do not count, a tie of estimates counts half.
    """
    both = np.isfinite(estimate) & np.isfinite(truth)
    order = np.argsort(truth[both], kind="stable")
    lower, upper = np.triu_indices(len(order), 1)
    gap, said = (
        np.diff(np.stack([values[lower], values[upper]]), axis=0)[0]
        for values in (truth[both][order], estimate[both][order])
    )
    bins = np.digitize(gap, GAPS)
    right = np.where(gap > 0, (1 + np.sign(said)) / 2, 0.0)
    size = len(GAPS) + 1
    agreeing, pairs = (np.bincount(bins, counted, size) for counted in (right, (gap > 0).astype(np.float64)))
    return np.asarray(agreeing, np.float64), np.asarray(pairs, np.float64)


def rank_correlation(estimate: Scores, truth: Scores) -> float:
    """Kendall's tau-b of what is not NaN, by counting all pairs; NaN where all scores are the same.

    Args:
        estimate: (models,).
        truth: (models,).
    """
    both = np.isfinite(estimate) & np.isfinite(truth)
    said, true = estimate[both], truth[both]
    above, better = said[:, None] > said, true[:, None] > true
    agreeing = np.count_nonzero(above & better) - np.count_nonzero(above & better.T)
    untied = float(np.count_nonzero(above)) * float(np.count_nonzero(better))
    return float(agreeing / np.sqrt(untied)) if untied else float("nan")


def _gap_error(error: Scores) -> float:
    """Mean over pairs of models of the squared difference of their errors: twice the errors' variance; NaN for one."""
    known = error[np.isfinite(error)]
    return 2.0 * float(known.var(ddof=1)) if len(known) > 1 else float("nan")


def _nothing(budgets: int, models: int) -> Errors:
    """Errors before the first draw."""
    unknown, gaps = np.full((budgets, models), np.nan), (budgets, len(GAPS) + 1)
    return Errors(
        absolute=unknown,
        squared=unknown.copy(),
        signed=unknown.copy(),
        truth=np.full(models, np.nan),
        agreeing=np.zeros(gaps),
        pairs=np.zeros(gaps),
        luck=np.zeros((budgets, 0)),
        micro=unknown.copy(),
        benchmark=unknown.copy(),
        covered=unknown.copy(),
        width=unknown.copy(),
        picks=np.zeros(budgets),
        cost=np.zeros(budgets),
        gap=np.zeros(budgets),
        tau=np.zeros(budgets),
        regret=np.zeros(budgets),
    )


def _estimate(judge: Judge, sample: Sample, scores: Scores) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing is NaN, which is what it should be
        return judge.entry(sample, scores[sample.indices])


def _panel(trial: Trial, judge: Judge) -> tuple[dict[str, Scores], Scores | None]:
    """Scores of the panel, and what can be fitted on them once for all picks."""
    if not judge.panel:
        return {}, None
    panel = trial.source[:, : judge.panel]
    if "irt" not in judge.name:
        return {}, panel
    return {_ITEM_RESPONSE: trial.item_response(judge.panel)}, panel


def top1_regret(estimate: Scores, truth: Scores) -> float:
    """True score of the best model less that of the one that looks best, or the mean of those that look alike.

    Args:
        estimate: (models,).
        truth: (models,).
    """
    both = np.isfinite(estimate) & np.isfinite(truth)
    if not both.any():
        return float("nan")
    said, true = estimate[both], truth[both]
    return float(true.max() - true[said == said.max()].mean())
