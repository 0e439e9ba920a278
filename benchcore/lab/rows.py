"""What a comparison tells: a row for each suite, method, estimator and budget, and summaries over them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.comparison import Failure
from benchcore.lab.explained import Explained

ALL = "all"


@dataclass(frozen=True)
class Row:
    """One method with one estimator at one budget on one suite; errors are of macro scores, in points.

    Attributes:
        suite: name.
        method: name.
        estimator: name.
        k: budget.
        picks: how many there are, mean: k, or as many as are no longer than the control's k.
        mae: mean absolute error over sub-pools, draws and models.
        rmse: root mean squared error.
        mre: mean of absolute error / true score, over models with a score above 0.
        bias: mean of estimate less truth.
        worst_model: largest mean absolute error of a model; the fewer sub-pools and draws, the larger by chance.
        gap_rmse: root mean squared error of the difference between two models on the same picks, over all pairs.
        kendall_tau: between estimated and true scores of the models, mean.
        top1_regret: true score of the best model less that of the one that looks best, in points, mean.
        pair_agreement: share of pairs of models that are put in the right order, by their true gap: below 1 point, 1 to
            2, 2 to 5, and above; None where no pair has such a gap.
        ratio: mean over sub-pools of the MAE divided by the control's on the same models.
        ratio_low: lower end of its 95 % interval over sub-pools and models, no narrower than luck with the same picks.
        ratio_high: upper end.
        mae_micro: that of the mean over prompts, estimated with equal weights inside benchmarks; None with other
            estimators than the headline one, as the next three.
        ratio_micro: mean over sub-pools of `mae_micro` divided by the control's.
        mae_benchmark: mean over benchmarks of the error of each one's own mean.
        ratio_benchmark: mean over sub-pools of `mae_benchmark` divided by the control's.
        difference: MAE less the control's on the same models, in points.
        p: two-sided bootstrap p-value of ratio 1.
        p_corrected: for the number of methods with this suite, estimator and budget (Holm).
        cost: characters of a pick, relative to the control's: what equal numbers of prompts cost in tokens.
        luck_low: lower end of the 95 % range of the ratio where scores are permuted inside benchmarks and picks kept;
            None for the control, and with other estimators than the headline one.
        luck_high: upper end.
        luck_p: how often such a ratio is as low as the real one.
        coverage: how often the 95 % interval of a random design holds a model's true macro score; None for other
            methods, and with other estimators than the headline one.
        interval_width: its mean width, in points.
        score_free: whether neither method nor estimator look at any model's score.
        is_default: whether it is the default method with the default estimator.
        pools: sub-pools.
        prompts: size of a sub-pool, on average.
        n_models: models that are scored, on one sub-pool.
        seconds: that picking took on one sub-pool, for all budgets together.
    """

    suite: str
    method: str
    estimator: str
    k: int
    picks: float
    mae: float
    rmse: float
    mre: float
    bias: float
    worst_model: float
    gap_rmse: float
    kendall_tau: float
    top1_regret: float
    pair_agreement: tuple[float | None, ...]
    ratio: float
    ratio_low: float
    ratio_high: float
    mae_micro: float | None
    ratio_micro: float | None
    mae_benchmark: float | None
    ratio_benchmark: float | None
    difference: float
    p: float
    p_corrected: float
    cost: float
    luck_low: float | None
    luck_high: float | None
    luck_p: float | None
    coverage: float | None
    interval_width: float | None
    score_free: bool
    is_default: bool
    pools: int
    prompts: int
    n_models: int
    seconds: float


@dataclass(frozen=True)
class Summary:
    """Mean ratios of a method with an estimator over budgets, on one suite or on all.

    Attributes:
        suite: name, or `all`.
        method: name.
        estimator: name.
        mae: mean, in points.
        ratio: mean ratio to the control.
        ratio_low: lower end of its 95 % interval.
        ratio_high: upper end.
        to_plain: mean ratio to plain random with a plain mean; None where that was not measured.
        worst_suite: the largest ratio of a suite.
        score_free: whether neither method nor estimator look at any model's score.
        is_default: whether it is the default method with the default estimator.
        seconds: mean, of picking on one sub-pool.
    """

    suite: str
    method: str
    estimator: str
    mae: float
    ratio: float
    ratio_low: float
    ratio_high: float
    to_plain: float | None
    worst_suite: float
    score_free: bool
    is_default: bool
    seconds: float


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Each model's true and estimated score at one budget, in points: means over sub-pools and draws.

    Attributes:
        suite: name.
        method: name.
        estimator: name.
        k: budget.
        models: (models,) names of those that were scored.
        truth: (models,).
        estimate: (models,).
        rmse: (models,) root mean squared error of one estimate.
    """

    suite: str
    method: str
    estimator: str
    k: int
    models: NDArray[np.str_]
    truth: NDArray[np.float64]
    estimate: NDArray[np.float64]
    rmse: NDArray[np.float64]


@dataclass(frozen=True)
class Findings:
    """All that a comparison found.

    Attributes:
        rows: by suite, method, estimator and budget.
        summaries: by suite and over all of them.
        failures: what could not be measured.
        explained: what features and panels explain of item scores, by suite.
        model_scores: with the headline estimator, and of the default and plain random.
    """

    rows: list[Row]
    summaries: list[Summary]
    failures: list[Failure]
    explained: list[Explained]
    model_scores: list[ModelScores] = field(default_factory=list)
