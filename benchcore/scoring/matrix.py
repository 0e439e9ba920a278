"""From the table `scores` to one score for each prompt and model."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.root import Registry
from benchcore.registry.scores import read_scores
from benchcore.scoring.metrics import MetricCount, chosen, declared
from benchcore.scoring.shortened import shortened

Scores = NDArray[np.float64]

_COLUMNS = ("model", "prompt_id", "run", "metric", "epoch", "content_hash", "score")


@dataclass(frozen=True, eq=False)
class Wanted:
    """Prompts whose scores are wanted.

    Attributes:
        prompt_id: (n,) distinct.
        content_hash: (n,) of the version that counts.
        benchmark: (n,) names.
    """

    prompt_id: tuple[str, ...]
    content_hash: tuple[str, ...]
    benchmark: tuple[str, ...]

    @classmethod
    def of(cls, rows: pa.Table) -> Wanted:
        """The prompts of a table with these columns."""
        return cls(*(tuple(rows[name].to_pylist()) for name in ("prompt_id", "content_hash", "benchmark")))


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """One score for each prompt and model.

    Attributes:
        models: in order of name.
        scores: (n, models) in [0, 1], NaN where missing; epochs are averaged.
        metrics: benchmark -> the metric that counts.
        runs: model -> run -> on how many prompts its score counts.
        other_version: scores that were measured on another version of their prompt, and do not count.
        notes: what was chosen or left out, a line each.
    """

    models: tuple[str, ...]
    scores: Scores
    metrics: Mapping[str, str]
    runs: Mapping[str, Mapping[str, int]]
    other_version: int
    notes: tuple[str, ...]


def read_matrix(
    registry: Registry,
    wanted: Wanted,
    *,
    models: Sequence[str] | None = None,
    metric: Sequence[str] | Mapping[str | None, str] = (),
    run: str | None = None,
) -> ScoreMatrix:
    """Read the scores of some prompts; only their rows of the table are held.

    Of several runs of a model the newest by name that scored a prompt counts, prompt by prompt: a run of a few further
    prompts adds to an older one instead of hiding it.

    Args:
        registry: holds `scores`.
        wanted: prompts.
        models: names; None: all that have scores on the prompts.
        metric: `METRIC` or `BENCHMARK=METRIC` each, see `metrics.chosen`; or benchmark -> metric.
        run: the only run that counts; None: see above.

    Raises:
        UsageError: a model, run, metric or benchmark is named that there is not.
        BenchcoreError: scores are stored that lie outside of [0, 1].
    """
    asked = dict(metric.items()) if isinstance(metric, Mapping) else declared(metric, set(wanted.benchmark))
    rows, other_version = _current(_stored(registry, wanted, models), wanted)
    notes = [] if not other_version else [f"{other_version:,} scores were measured on another version of their prompt"]
    if run is not None:
        rows = _of_run(rows, run)
    metrics, said = chosen(_counts(rows), asked)
    rows, without = _by_metric(rows, metrics)
    rows = _newest(rows)
    runs = _runs(rows)
    names = tuple(sorted({*runs, *without})) if models is None else tuple(dict.fromkeys(models))
    unknown = [name for name in names if name not in {*runs, *without}]
    if unknown:
        raise _unknown(unknown, _stored(registry, wanted, None)["model"].unique().to_pylist(), run, other_version)
    notes += [*said, *shortened(_run_notes(runs)), *shortened(_metric_notes(without))]
    return ScoreMatrix(names, _spread(rows, names, len(wanted.prompt_id)), metrics, runs, other_version, tuple(notes))


def _stored(registry: Registry, wanted: Wanted, models: Sequence[str] | None) -> pa.Table:
    """Rows of the prompts and of their exact copies, with their place among the wanted in the column `row`."""
    rows = read_scores(registry, prompt_ids=wanted.prompt_id, models=models, columns=_COLUMNS)
    place = pc.index_in(rows["prompt_id"], value_set=pa.array(wanted.prompt_id, pa.string()))
    benchmark = pa.array(wanted.benchmark, pa.string()).take(place.combine_chunks())
    return rows.append_column("row", place).append_column("benchmark", benchmark)


def _current(rows: pa.Table, wanted: Wanted) -> tuple[pa.Table, int]:
    """Scores of the version that counts, and how many were of another; a score without a hash is taken as current."""
    pinned = pa.array(wanted.content_hash, pa.string()).take(rows["row"].combine_chunks())
    same = pc.fill_null(pc.equal(rows["content_hash"].combine_chunks(), pinned), True)
    scored = pc.fill_null(pc.is_finite(rows["score"].combine_chunks()), False)
    other = pc.sum(pc.invert(same)).as_py() or 0
    kept = rows.filter(pc.and_(same, scored))
    outside = kept.filter(pc.or_(pc.less(kept["score"], 0.0), pc.greater(kept["score"], 1.0)))
    if outside.num_rows:
        first = outside.slice(0, 1).to_pylist()[0]
        raise BenchcoreError(
            f"{outside.num_rows:,} scores lie outside of [0, 1], such as {first['score']:g} of {first['model']} by"
            f" {first['metric']}",
            where="table 'scores'",
            mend="Import them with their scale: benchcore import --scale METRIC=LOW:HIGH.",
        )
    return kept, int(other)


def _of_run(rows: pa.Table, run: str) -> pa.Table:
    kept = rows.filter(pc.equal(rows["run"], run))
    if not kept.num_rows:
        known = sorted(set(rows["run"].to_pylist()))
        near = difflib.get_close_matches(run, known, n=1) or known[-3:]
        mend = f"There are {', '.join(near)}." if near else None
        raise UsageError(f"no scores of the run '{run}' on these prompts", where="--run", mend=mend)
    return kept


def _counts(rows: pa.Table) -> list[MetricCount]:
    grouped = rows.group_by(["benchmark", "metric"]).aggregate([("model", "count_distinct"), ([], "count_all")])
    return [
        MetricCount(row["benchmark"], row["metric"], row["model_count_distinct"], row["count_all"])
        for row in grouped.to_pylist()
    ]


def _by_metric(rows: pa.Table, metrics: Mapping[str, str]) -> tuple[pa.Table, dict[str, set[str]]]:
    """Rows of the metrics that count; and the models that have scores on a benchmark, but none by its metric."""
    right = pa.array(
        [
            metrics.get(benchmark) == metric
            for benchmark, metric in zip(rows["benchmark"].to_pylist(), rows["metric"].to_pylist(), strict=True)
        ],
        pa.bool_(),
    )
    kept = rows.filter(right)
    have = {(row["model"], row["benchmark"]) for row in _pairs(kept)}
    without: dict[str, set[str]] = {}
    for row in _pairs(rows):
        if (row["model"], row["benchmark"]) not in have:
            without.setdefault(row["model"], set()).add(row["benchmark"])
    return kept, without


def _pairs(rows: pa.Table) -> list[dict[str, str]]:
    found: list[dict[str, str]] = rows.group_by(["model", "benchmark"]).aggregate([]).to_pylist()
    return found


def _newest(rows: pa.Table) -> pa.Table:
    """One row for each model and prompt: the mean over epochs of the newest run."""
    latest = rows.group_by(["model", "row"]).aggregate([("run", "max")]).rename_columns(["model", "row", "run"])
    kept = rows.join(latest, ["model", "row", "run"], join_type="left semi")
    means = kept.sort_by([("model", "ascending"), ("row", "ascending"), ("epoch", "ascending")])
    means = means.group_by(["model", "row", "run"], use_threads=False).aggregate([("score", "mean")])
    return means.rename_columns(["model", "row", "run", "score"])


def _runs(rows: pa.Table) -> dict[str, dict[str, int]]:
    counted = rows.group_by(["model", "run"]).aggregate([([], "count_all")]).to_pylist()
    runs: dict[str, dict[str, int]] = {}
    for row in sorted(counted, key=lambda row: (row["model"], row["run"])):
        runs.setdefault(row["model"], {})[row["run"]] = row["count_all"]
    return runs


def _unknown(names: Sequence[str], known: Sequence[str], run: str | None, other_version: int) -> UsageError:
    """The error of models that have no scores that count; `known` ones have some, whether they count or not."""
    others = f" ({other_version:,} are of another version of their prompt)" if other_version else ""
    of_run = f" of the run '{run}'" if run is not None else ""
    near = [] if names[0] in known else difflib.get_close_matches(names[0], known, n=1)
    return UsageError(
        f"no scores of {', '.join(names[:5])}{of_run} on the prompts of the coreset{others}",
        mend=f"Did you mean {near[0]}?" if near else "`benchcore import` reads a harness's logs.",
    )


def _run_notes(runs: Mapping[str, Mapping[str, int]]) -> list[str]:
    notes = []
    for model, counts in runs.items():
        if len(counts) > 1:
            told = ", ".join(f"{count:,} prompts from {run}" for run, count in sorted(counts.items(), reverse=True)[:4])
            more = f" and {len(counts) - 4} more" if len(counts) > 4 else ""
            notes.append(f"{model}: scores of {len(counts)} runs, the newest of each prompt: {told}{more} (--run)")
    return notes


def _metric_notes(without: Mapping[str, set[str]]) -> list[str]:
    return [
        f"{model}: no score by the metric that counts on {', '.join(sorted(benchmarks)[:5])}"
        f"{f' and {len(benchmarks) - 5} more' if len(benchmarks) > 5 else ''}, only by others (--metric)"
        for model, benchmarks in sorted(without.items())
    ]


def _spread(rows: pa.Table, names: Sequence[str], size: int) -> Scores:
    scores = np.full((size, len(names)), np.nan)
    column = pc.index_in(rows["model"], value_set=pa.array(names, pa.string()))
    kept = rows.append_column("column", column).filter(pc.is_valid(column))
    scores[kept["row"].to_numpy(), kept["column"].to_numpy()] = kept["score"].to_numpy()
    return scores
