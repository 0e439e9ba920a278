"""From measurements to rows and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.comparison import Bench, Failure, Outcome, Result
from benchcore.lab.contestants import CONTROL, HEADLINE, UNBALANCED
from benchcore.lab.explained import explained
from benchcore.lab.protocol import usual_pool
from benchcore.lab.rows import ALL, Findings, ModelScores, Row, Summary
from benchcore.lab.statistics import (
    Resamples,
    holm,
    interval,
    over_pools,
    p_value,
    paired,
    pool_means,
    ratios,
    resamples,
    widened,
)  # fmt: skip

POINTS = 100.0
SAMPLES = 4000
PLAIN = (("plain_random", "plain"), (CONTROL + UNBALANCED, "plain"))

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Sheet:
    """All sub-pools of one method with one estimator.

    Attributes:
        outcomes: in order of sub-pool.
        pools: (pools,) their numbers.
    """

    outcomes: list[Outcome]
    pools: NDArray[np.int64]

    def of(self, name: str) -> Values:
        """(pools, budgets, models) or (pools, budgets) of an error."""
        return np.stack([getattr(outcome.errors, name) for outcome in self.outcomes]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Measured:
    """All measurements on one suite.

    Attributes:
        bench: the suite.
        sheets: by method and estimator.
        drawn: bootstrap samples of its sub-pools and models.
        default: names of the default method and estimator.
    """

    bench: Bench
    sheets: dict[tuple[str, str], _Sheet]
    drawn: Resamples
    default: tuple[str | None, str]


def findings(
    benches: Sequence[Bench], results: Sequence[Sequence[Result]], default: tuple[str | None, str]
) -> Findings:
    """Turn measurements into rows.

    Args:
        benches: as measured.
        results: of each.
        default: names of the default method (None: there is none) and of its estimator.
    """
    rows: list[Row] = []
    summaries: list[Summary] = []
    samples: dict[tuple[str, str], list[tuple[Values, Summary]]] = {}
    model_scores: list[ModelScores] = []
    for bench, found in zip(benches, results, strict=True):
        sheets = _sheets(found)
        if (CONTROL, HEADLINE) not in sheets:
            continue
        # Halves of a suite and the whole share their models' luck: they draw the same ones.
        generator = bench.protocol.generator("bootstrap", bench.suite.name.partition(":")[0])
        drawn = resamples(bench.protocol.repeats, len(bench.suite.models), SAMPLES, generator)
        measured = _Measured(bench, sheets, drawn, default)
        for name in sheets:
            own, ratio, summary = _one_pair(measured, name)
            rows += own
            summaries.append(summary)
            samples.setdefault(name, []).append((ratio, summary))
            if name[1] == HEADLINE or name == default or name in PLAIN:
                model_scores += _model_scores(measured, name)
    if len(benches) > 1:
        summaries += [_pooled(parts) for parts in samples.values() if len(parts) == len(benches)]
    failures = [result for found in results for result in found if isinstance(result, Failure)]
    shares = [share for bench in benches for share in explained(bench.suite, bench.features, bench.protocol)]
    return Findings(_corrected(rows), summaries, failures, shares, model_scores)


def _sheets(results: Sequence[Result]) -> dict[tuple[str, str], _Sheet]:
    gathered: dict[tuple[str, str], list[Outcome]] = {}
    for result in results:
        if isinstance(result, Outcome):
            gathered.setdefault((result.method, result.estimator), []).append(result)
    return {
        name: _Sheet(outcomes, np.array([outcome.repeat for outcome in outcomes]))
        for name, outcomes in sorted(gathered.items())
    }


def _one_pair(measured: _Measured, name: tuple[str, str]) -> tuple[list[Row], Values, Summary]:
    """Rows of one method with one estimator, bootstrap samples of its mean ratio, and its summary."""
    sheet = measured.sheets[name]
    plain = next((measured.sheets[pair] for pair in PLAIN if pair in measured.sheets), None)
    absolute, drawn = sheet.of("absolute"), Resamples(measured.drawn.pools[:, sheet.pools], measured.drawn.models)
    control = _on(measured.sheets[CONTROL, HEADLINE], sheet.pools)
    luck = _luck_of(measured, name[0])
    samples = [ratios(absolute[:, place], control[:, place], drawn) for place in range(absolute.shape[1])]
    mean = widened(np.mean(samples, axis=0), luck.mean(axis=0))
    samples = [widened(ratio, by_luck) for ratio, by_luck in zip(samples, luck, strict=True)]
    rows = [_row(measured, name, place, ratio, luck[place]) for place, ratio in enumerate(samples)]
    low, high = interval(mean)
    summary = Summary(
        suite=measured.bench.suite.name,
        method=name[0],
        estimator=name[1],
        mae=float(np.mean([row.mae for row in rows])),
        ratio=float(mean[0]),
        ratio_low=low,
        ratio_high=high,
        to_plain=None if plain is None else _to(absolute, _on(plain, sheet.pools), drawn),
        worst_suite=float(mean[0]),
        score_free=rows[0].score_free,
        is_default=rows[0].is_default,
        seconds=rows[0].seconds,
    )
    return rows, mean, summary


def _luck_of(measured: _Measured, method: str) -> Values:
    """(budgets, permutations) ratios of a method's errors to the control's where scores are permuted; maybe none."""
    sheet = measured.sheets[method, HEADLINE]
    control = _on(measured.sheets[CONTROL, HEADLINE], sheet.pools)
    errors, own = sheet.of("luck"), sheet.of("absolute")
    by_budget = []
    for place in range(errors.shape[1]):
        below = pool_means(paired(own[:, place], control[:, place])[1], _data_only(sheet, measured.drawn))[0]
        seen = below > 0
        by_budget.append((errors[seen, place] / below[seen, None]).mean(axis=0) if seen.any() else np.zeros(0))
    return np.array(by_budget, np.float64)


def _row(measured: _Measured, name: tuple[str, str], place: int, ratio: Values, luck: Values) -> Row:
    """The row of one budget, given samples of its ratio, and its ratios by luck."""
    sheet = measured.sheets[name]
    control = _on(measured.sheets[CONTROL, HEADLINE], sheet.pools)[:, place]
    absolute, signed = sheet.of("absolute")[:, place], sheet.of("signed")[:, place]
    data = _data_only(sheet, measured.drawn)
    own, other = (float(over_pools(pool_means(part, data), data)[0]) for part in paired(absolute, control))
    low, high = interval(ratio)
    luck_low, luck_high, luck_p = _range(luck if name[1] == HEADLINE else np.zeros(0), float(ratio[0]))
    return Row(
        suite=measured.bench.suite.name,
        method=name[0],
        estimator=name[1],
        k=measured.bench.protocol.ks[place],
        picks=_mean(sheet.of("picks")[:, place]),
        mae=POINTS * _mean(absolute),
        rmse=POINTS * float(np.sqrt(_mean(sheet.of("squared")[:, place]))),
        mre=_relative(sheet, absolute),
        bias=POINTS * _mean(signed),
        worst_model=POINTS * _worst(absolute),
        gap_rmse=POINTS * float(np.sqrt(_mean(sheet.of("gap")[:, place]))),
        kendall_tau=_mean(sheet.of("tau")[:, place]),
        top1_regret=POINTS * _mean(sheet.of("regret")[:, place]),
        pair_agreement=_agreement(sheet.of("agreeing")[:, place], sheet.of("pairs")[:, place]),
        ratio=float(ratio[0]),
        ratio_low=low,
        ratio_high=high,
        mae_micro=_known(POINTS * sheet.of("micro")[:, place]),
        ratio_micro=_ratio_of("micro", measured, sheet, place),
        mae_benchmark=_known(POINTS * sheet.of("benchmark")[:, place]),
        ratio_benchmark=_ratio_of("benchmark", measured, sheet, place),
        difference=POINTS * (own - other),
        p=(p := p_value(ratio, 1.0)),
        p_corrected=p,
        cost=_mean(sheet.of("cost")[:, place]),
        luck_low=luck_low,
        luck_high=luck_high,
        luck_p=luck_p,
        coverage=_known(sheet.of("covered")[:, place]),
        interval_width=_known(POINTS * sheet.of("width")[:, place]),
        score_free=_score_free(measured.bench, name),
        is_default=name == measured.default,
        pools=len(sheet.pools),
        prompts=usual_pool(measured.bench.suite.groups, measured.bench.protocol),
        n_models=round(float(np.isfinite(absolute).sum(axis=1).mean())),
        seconds=float(np.mean([outcome.seconds for outcome in sheet.outcomes])),
    )


def _model_scores(measured: _Measured, name: tuple[str, str]) -> list[ModelScores]:
    """True and estimated scores of every model that was scored on some sub-pool, by budget."""
    sheet, suite = measured.sheets[name], measured.bench.suite
    signed, squared = sheet.of("signed"), sheet.of("squared")
    truth = np.broadcast_to(sheet.of("truth")[:, None], signed.shape)
    seen = np.isfinite(truth) & np.isfinite(signed) & np.isfinite(squared)
    counts = np.maximum(seen.sum(axis=0), 1)
    true, error, square = (np.where(seen, values, 0.0).sum(axis=0) / counts for values in (truth, signed, squared))
    scores = []
    for place, k in enumerate(measured.bench.protocol.ks):
        scored = np.flatnonzero(seen[:, place].any(axis=0))
        means = [POINTS * values[place, scored] for values in (true, true + error, np.sqrt(square))]
        scores.append(ModelScores(suite.name, *name, k, np.asarray(suite.models, np.str_)[scored], *means))
    return scores


def _ratio_of(target: str, measured: _Measured, sheet: _Sheet, place: int) -> float | None:
    """Mean over sub-pools of the error of another target divided by the control's; None where it was not measured."""
    errors = sheet.of(target)[:, place]
    if not np.isfinite(errors).any():
        return None
    control = _on(measured.sheets[CONTROL, HEADLINE], sheet.pools, target)[:, place]
    return float(ratios(errors, control, _data_only(sheet, measured.drawn))[0])


def _to(absolute: Values, other: Values, drawn: Resamples) -> float:
    """Mean ratio over budgets to another pair's errors."""
    data = Resamples(drawn.pools[:1], drawn.models[:1])
    return float(np.mean([ratios(absolute[:, place], other[:, place], data)[0] for place in range(absolute.shape[1])]))


def _on(sheet: _Sheet, pools: NDArray[np.int64], name: str = "absolute") -> Values:
    """Errors on the given sub-pools; NaN where the control failed."""
    absolute = sheet.of(name)
    aligned = np.full((len(pools), *absolute.shape[1:]), np.nan)
    place = {int(pool): row for row, pool in enumerate(sheet.pools)}
    for row, pool in enumerate(pools):
        if int(pool) in place:
            aligned[row] = absolute[place[int(pool)]]
    return aligned


def _data_only(sheet: _Sheet, drawn: Resamples) -> Resamples:
    """The sheet's own sub-pools and models, each once."""
    return Resamples(drawn.pools[:1, sheet.pools], drawn.models[:1])


def _score_free(bench: Bench, name: tuple[str, str]) -> bool:
    method = next(contestant for contestant in bench.contestants if contestant.name == name[0])
    judge = next(judge for judge in bench.judges if judge.name == name[1])
    return method.entry.score_free and not judge.panel


def _mean(values: Values) -> float:
    """Of what is not NaN."""
    seen = np.isfinite(values)
    return float(values[seen].mean()) if seen.any() else float("nan")


def _known(values: Values) -> float | None:
    """Mean of what is not NaN, None where nothing is."""
    return _mean(values) if np.isfinite(values).any() else None


def _worst(absolute: Values) -> float:
    seen = np.isfinite(absolute)
    if not seen.any():
        return float("nan")
    counts = seen.sum(axis=0)
    return float(np.max(np.where(seen, absolute, 0.0).sum(axis=0)[counts > 0] / counts[counts > 0]))


def _relative(sheet: _Sheet, absolute: Values) -> float:
    truth = sheet.of("truth")
    with np.errstate(invalid="ignore", divide="ignore"):
        return _mean(np.where(truth > 0, absolute / truth, np.nan))


def _range(luck: Values, ratio: float) -> tuple[float, float, float] | tuple[None, None, None]:
    """Range of the ratio by luck, and how often luck is as good."""
    if luck.size == 0 or not np.isfinite(ratio):
        return None, None, None
    low, high = np.quantile(luck, [0.025, 0.975])
    return float(low), float(high), float((1 + (luck <= ratio).sum()) / (1 + len(luck)))


def _agreement(agreeing: Values, pairs: Values) -> tuple[float | None, ...]:
    totals = zip(agreeing.sum(axis=0), pairs.sum(axis=0), strict=True)
    return tuple(float(right / count) if count else None for right, count in totals)


def _pooled(parts: Sequence[tuple[Values, Summary]]) -> Summary:
    """Mean over suites, which are drawn independently of each other but for halves of the same."""
    samples = np.mean([ratio for ratio, _ in parts], axis=0)
    low, high = interval(samples)
    own = [summary for _, summary in parts]
    to_plain = [summary.to_plain for summary in own if summary.to_plain is not None]
    return replace(
        own[0],
        suite=ALL,
        mae=float(np.mean([summary.mae for summary in own])),
        ratio=float(samples[0]),
        ratio_low=low,
        ratio_high=high,
        to_plain=float(np.mean(to_plain)) if len(to_plain) == len(own) else None,
        worst_suite=max(summary.ratio for summary in own),
        seconds=float(np.mean([summary.seconds for summary in own])),
    )


def _corrected(rows: Sequence[Row]) -> list[Row]:
    """Correct p-values for the number of methods that are compared at once; the control is none of them."""
    families: dict[tuple[str, str, int], list[int]] = {}
    for position, row in enumerate(rows):
        if (row.method, row.estimator) != (CONTROL, HEADLINE):
            families.setdefault((row.suite, row.estimator, row.k), []).append(position)
    corrected = list(rows)
    for members in families.values():
        for position, p in zip(members, holm([rows[member].p for member in members]), strict=True):
            corrected[position] = replace(rows[position], p_corrected=p)
    return corrected
