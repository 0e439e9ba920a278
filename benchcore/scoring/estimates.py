"""Estimates of models for the suite, each category and each benchmark, from stored scores on a coreset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchcore.estimation.departure import REFERENCES
from benchcore.registry.manifests import Manifest
from benchcore.registry.root import Registry
from benchcore.scoring.alarm import Alarm, alarms
from benchcore.scoring.bias import BiasTest, bias_test
from benchcore.scoring.everywhere import everywhere
from benchcore.scoring.matrix import ScoreMatrix, Scores, Wanted, read_matrix
from benchcore.scoring.panel import Panel, read_panel
from benchcore.scoring.pattern import Pattern
from benchcore.scoring.picked import DRAWN, Picked, picked
from benchcore.scoring.shortened import merged
from benchcore.scoring.target_estimate import TargetEstimate


@dataclass(frozen=True)
class Estimates:
    """What a coreset's scores say of models.

    Attributes:
        coreset_id: of the coreset.
        level: how often intervals are to hold the true score.
        models: that are estimated, by name; without those of the panel.
        targets: for each model (the panel's last) `suite`, then its categories and benchmarks by name.
        metrics: benchmark -> the metric that counts.
        panel: models whose scores are known on the whole pool, and lean on nothing.
        alarms: models that depart from the others.
        bias: of the picks that were chosen, where there is an audit to test it by.
        notes: what the reader should know, a line each.
    """

    coreset_id: str
    level: float
    models: tuple[str, ...]
    targets: tuple[TargetEstimate, ...]
    metrics: Mapping[str, str] = field(default_factory=dict)
    panel: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    bias: BiasTest | None = None
    notes: tuple[str, ...] = ()


def estimate(
    registry: Registry,
    manifest: Manifest,
    *,
    models: Sequence[str] | None = None,
    metric: Sequence[str] = (),
    run: str | None = None,
    level: float = 0.95,
    pool: Wanted | None = None,
    panel: Sequence[str] | None = None,
) -> Estimates:
    """Estimate models from their scores on the picks of a coreset.

    A missing score's weight stays in its benchmark; a benchmark without any lends it to its category, then to the
    suite. See docs/estimates.md for the kinds of intervals.

    Args:
        registry: holds `coresets` and `scores`.
        manifest: of the coreset.
        models: names; None: all that have scores on the picks.
        metric: `METRIC` or `BENCHMARK=METRIC` each.
        run: the only run that counts on the picks; None: the newest of each model and prompt.
        level: of the intervals.
        pool: all prompts that the coreset stands for; with it, estimates lean on a panel (AIPW).
        panel: names of its models; None: all that have scores on nearly all of the pool.

    Returns:
        Estimates without models where no scores are stored on the picks.

    Raises:
        UsageError: a model, run, metric or benchmark is named that there is not.
        BenchcoreError: there is no panel.
    """
    coreset = picked(registry, manifest)
    matrix = read_matrix(registry, coreset.wanted, models=models, metric=metric, run=run, named_by="--model")
    known = None if pool is None else read_panel(registry, coreset, pool, matrix.metrics, panel)
    names = tuple(name for name in matrix.models if known is None or name not in known.models)
    scores = matrix.scores[:, [matrix.models.index(name) for name in names]]
    targets = [_of_other_metrics(each, coreset, matrix) for each in _in_patterns(coreset, names, scores, level, known)]
    notes = [*matrix.notes, *_notes(coreset, matrix, targets)]
    if known is None:
        notes += merged(_on_everything(registry, coreset, matrix))
    else:
        wanted = tuple(name for name in known.models if models is None or name in models)
        targets += _of_panel(coreset, known, wanted, level)
        notes.append(f"panel of {len(known.models)}, known and not estimated: {', '.join(known.models)}")
    beside, pattern = _beside(registry, coreset, matrix, named=models is not None)
    if known is not None and len(known.models) >= REFERENCES:
        warned = alarms(coreset, names, scores, known.scores[known.rows])
    else:
        warned = alarms(coreset, beside, pattern)
    return Estimates(
        coreset_id=manifest.coreset_id,
        level=level,
        models=names,
        targets=tuple(targets),
        metrics=matrix.metrics,
        panel=() if known is None else known.models,
        alarms=tuple(alarm for alarm in warned if alarm.model in names),
        bias=bias_test(coreset, pattern, level),
        notes=tuple(notes),
    )


def _beside(registry: Registry, coreset: Picked, matrix: ScoreMatrix, *, named: bool) -> tuple[tuple[str, ...], Scores]:
    """All models that have scores on the picks, and these: the more, the better are alarms and the bias test.

    Args:
        registry: holds `scores`.
        coreset: of the picks.
        matrix: of the models that are estimated.
        named: whether there may be others.
    """
    if not named:
        return matrix.models, matrix.scores
    found = read_matrix(registry, coreset.wanted, metric=dict(matrix.metrics.items()))
    scores = found.scores.copy()
    scores[:, [found.models.index(name) for name in matrix.models]] = matrix.scores
    return found.models, scores


def _in_patterns(
    coreset: Picked, names: Sequence[str], scores: Scores, level: float, panel: Panel | None = None
) -> Iterator[TargetEstimate]:
    """Estimates in the order of models; those with the same scores missing are computed together."""
    found: dict[str, list[TargetEstimate]] = {name: [] for name in names}
    patterns, owner = np.unique(np.isfinite(scores), axis=1, return_inverse=True)
    for number, seen in enumerate(patterns.T):
        columns = np.flatnonzero(owner.ravel() == number)
        alike = [names[column] for column in columns.tolist()]
        part = Pattern(coreset, seen, scores[np.ix_(seen, columns)], level, panel)
        for target, members in coreset.targets.items():
            for each in part.estimates(target, members, alike):
                found[each.model].append(each)
    for name in names:
        yield from found[name]


def _of_other_metrics(each: TargetEstimate, coreset: Picked, matrix: ScoreMatrix) -> TargetEstimate:
    """With the reason, where a target is not estimable and the model has scores by metrics that do not count."""
    others = matrix.other_metrics.get(each.model)
    if each.estimate is not None or others is None:
        return each
    members = [coreset.benchmarks[number].name for number in coreset.targets[each.target].tolist()]
    metrics = sorted({metric for benchmark in members for metric in others.get(benchmark, ())})
    if not metrics:
        return each
    told = f"scores of another metric only ({', '.join(metrics)}); --metric"
    return replace(each, reason=f"{each.reason}; on others {told}" if each.prompts else told)


def _on_everything(registry: Registry, coreset: Picked, matrix: ScoreMatrix) -> Iterator[tuple[str, str]]:
    total = int(coreset.sizes.sum())
    for model, prompts in everywhere(registry, coreset, matrix):
        yield model, f"scores on {prompts:,} of all {total:,} prompts, of which only the picks count; --panel takes all"


def _of_panel(coreset: Picked, panel: Panel, names: Sequence[str], level: float) -> Iterator[TargetEstimate]:
    """What is known of a panel's models, as if the whole pool had been picked."""
    whole = coreset.all_picked(panel.groups)
    columns = [panel.models.index(name) for name in names]
    return _in_patterns(whole, names, panel.scores[:, columns], level)


def _notes(coreset: Picked, matrix: ScoreMatrix, targets: Sequence[TargetEstimate]) -> Iterator[str]:
    if not matrix.models:
        yield "no model has scores on the picks"
        return
    if not coreset.whole and (coreset.audit.any() or coreset.method in DRAWN):
        yield "prompts were included or excluded beforehand, so that the draw of the others is not one from the suite"
    if coreset.method == "local_pivotal" and coreset.drawn:
        yield "intervals leave out that the picks are spread: they are a little wider than they need be"
    suite = [each for each in targets if each.target == "suite"]
    uncounted = dict(zip(matrix.models, matrix.uncounted.sum(axis=0).tolist(), strict=True))
    yield from merged(
        (each.model, "no score on any pick") for each in suite if not each.prompts and not uncounted[each.model]
    )
    yield from merged(
        (
            each.model,
            f"{each.missing - uncounted[each.model]:,} of {coreset.k:,} picks have no score; taken as missing at"
            " random",
        )
        for each in suite
        if each.prompts and each.missing > uncounted[each.model]
    )
    yield from merged(
        (
            each.model,
            f"{100 * each.borrowed:.1f} % of the suite is borrowed from other benchmarks; no interval can vouch for"
            " that part",
        )
        for each in suite
        if each.borrowed > 0 and each.prompts
    )
