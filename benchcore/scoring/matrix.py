"""From the table `scores` to one score for each prompt and model."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.root import Registry
from benchcore.registry.scores import read_scores
from benchcore.scoring.metrics import MetricCount, chosen, declared
from benchcore.scoring.runs import newest, remarks, times_of
from benchcore.scoring.shortened import merged

Scores = NDArray[np.float64]

_LISTED = 5
_COLUMNS = ("model", "prompt_id", "run", "metric", "epoch", "content_hash", "score", "measured_at")


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
        uncounted: (n, models) bool, where there are scores, but none by the metric that counts.
        other_metrics: model -> benchmark -> the metrics of these.
    """

    models: tuple[str, ...]
    scores: Scores
    metrics: Mapping[str, str]
    runs: Mapping[str, Mapping[str, int]]
    other_version: int
    notes: tuple[str, ...]
    uncounted: NDArray[np.bool_]
    other_metrics: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def read_matrix(
    registry: Registry,
    wanted: Wanted,
    *,
    models: Sequence[str] | None = None,
    metric: Sequence[str] | Mapping[str | None, str] = (),
    run: str | None = None,
    named_by: str | None = None,
) -> ScoreMatrix:
    """Read the scores of some prompts; only their rows of the table are held.

    Of several runs of a model the newest that scored a prompt counts, prompt by prompt: a run of a few further prompts
    adds to an older one instead of hiding it.

    Args:
        registry: holds `scores`.
        wanted: prompts.
        models: names; None: all that have scores on the prompts.
        metric: `METRIC` or `BENCHMARK=METRIC` each, see `metrics.chosen`; or benchmark -> metric.
        run: the only run that counts; None: see above.
        named_by: the option that names the models, for errors.

    Raises:
        UsageError: a model, run, metric or benchmark is named that there is not.
        BenchcoreError: scores are stored that lie outside of [0, 1].
    """
    asked = dict(metric.items()) if isinstance(metric, Mapping) else declared(metric, set(wanted.benchmark))
    rows, other_version = _current(_stored(registry, wanted, models), wanted)
    notes = [] if not other_version else [f"{other_version:,} scores were measured on another version of their prompt"]
    if run is not None:
        rows = _of_run(rows, run)
    metrics, said = chosen(_counts(rows, models), asked)
    rows, others = _by_metric(rows, metrics)
    times = times_of(rows)
    rows = newest(rows, times)
    runs = _runs(rows)
    other_metrics = _metrics_of(others)
    names = tuple(sorted({*runs, *other_metrics})) if models is None else tuple(dict.fromkeys(models))
    unknown = [name for name in names if name not in {*runs, *other_metrics}]
    if unknown:
        known = _stored(registry, wanted, None)["model"].unique().to_pylist()
        raise _unknown(unknown, known, run, other_version, named_by)
    notes += [*said, *merged(remarks(times, runs)), *merged(_metric_notes(others, other_metrics))]
    shape = (len(wanted.prompt_id), len(names))
    return ScoreMatrix(
        models=names,
        scores=_spread(rows, names, np.full(shape, np.nan), rows["score"].to_numpy()),
        metrics=metrics,
        runs=runs,
        other_version=other_version,
        notes=tuple(notes),
        uncounted=_spread(others, names, np.zeros(shape, np.bool_), True),
        other_metrics=other_metrics,
    )


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


def _counts(rows: pa.Table, models: Sequence[str] | None) -> list[MetricCount]:
    """How much there is of each metric; `models` are those that were asked for."""
    keys = ["benchmark", "metric"]
    grouped = rows.group_by(keys).aggregate([("model", "count_distinct"), ([], "count_all")])
    shared: dict[tuple[str, str], int] = {}
    if models is not None:
        having = rows.group_by([*keys, "row"]).aggregate([("model", "count_distinct")])
        having = having.filter(pc.equal(having["model_count_distinct"], len(set(models))))
        counts = having.group_by(keys).aggregate([([], "count_all")]).to_pylist()
        shared = {(row["benchmark"], row["metric"]): row["count_all"] for row in counts}
    return [
        MetricCount(
            benchmark=row["benchmark"],
            metric=row["metric"],
            models=row["model_count_distinct"],
            scores=row["count_all"],
            shared=shared.get((row["benchmark"], row["metric"]), 0),
        )
        for row in grouped.to_pylist()
    ]


def _by_metric(rows: pa.Table, metrics: Mapping[str, str]) -> tuple[pa.Table, pa.Table]:
    """Rows of the metrics that count; and those of others, where the model has no score of the prompt that counts."""
    place = pc.index_in(rows["benchmark"], value_set=pa.array(list(metrics), pa.string()))
    counting = pa.array(list(metrics.values()), pa.string()).take(place.combine_chunks())
    right = pc.fill_null(pc.equal(rows["metric"].combine_chunks(), counting), False)
    kept, others = rows.filter(right), rows.filter(pc.invert(right))
    if others.num_rows:
        scored = kept.group_by(["model", "row"]).aggregate([])
        others = others.join(scored, ["model", "row"], join_type="left anti")
    return kept, others


def _metrics_of(rows: pa.Table) -> dict[str, dict[str, tuple[str, ...]]]:
    """Model -> benchmark -> metrics."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    kinds = rows.group_by(["model", "benchmark", "metric"]).aggregate([]).to_pylist()
    for row in sorted(kinds, key=lambda row: (row["model"], row["benchmark"], row["metric"])):
        own = found.setdefault(row["model"], {})
        own[row["benchmark"]] = (*own.get(row["benchmark"], ()), row["metric"])
    return found


def _runs(rows: pa.Table) -> dict[str, dict[str, int]]:
    counted = rows.group_by(["model", "run"]).aggregate([([], "count_all")]).to_pylist()
    runs: dict[str, dict[str, int]] = {}
    for row in sorted(counted, key=lambda row: (row["model"], row["run"])):
        runs.setdefault(row["model"], {})[row["run"]] = row["count_all"]
    return runs


def _unknown(
    names: Sequence[str], known: Sequence[str], run: str | None, other_version: int, named_by: str | None
) -> UsageError:
    """The error of models that have no scores that count; `known` ones have some, whether they count or not."""
    others = f" ({other_version:,} are of another version of their prompt)" if other_version else ""
    of_run = f" of the run '{run}'" if run is not None else ""
    told = f"no scores of {', '.join(names[:5])}{of_run} on the prompts of the coreset{others}"
    if not known:
        return UsageError(told, where=named_by, mend="`benchcore import` reads a harness's logs.")
    near = [] if names[0] in known else difflib.get_close_matches(names[0], known, n=1)
    listed = sorted(known)[:_LISTED]
    more = f" and {len(known) - len(listed):,} more" if len(known) > len(listed) else ""
    mend = f"Did you mean {near[0]}? " if near else ""
    return UsageError(told, where=named_by, mend=f"{mend}There are scores of {', '.join(listed)}{more}.")


def _metric_notes(rows: pa.Table, metrics: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Iterator[tuple[str, str]]:
    counts = rows.group_by("model").aggregate([("row", "count_distinct")]).to_pylist()
    prompts = {row["model"]: row["row_count_distinct"] for row in counts}
    for model, own in metrics.items():
        names = ", ".join(dict.fromkeys(name for of_benchmark in own.values() for name in of_benchmark))
        more = f" and {len(own) - 5} more" if len(own) > 5 else ""
        where = ", ".join(list(own)[:5]) + more
        yield model, f"scores of another metric only ({names}) on {prompts[model]:,} prompts of {where} (--metric)"


def _spread(rows: pa.Table, names: Sequence[str], into: NDArray[Any], values: Any) -> NDArray[Any]:
    """Put values where their prompts and models are; (n, models)."""
    column = pc.index_in(rows["model"], value_set=pa.array(names, pa.string())).to_numpy()
    into[rows["row"].to_numpy(), column] = values
    return into
