"""Which of several metrics of a benchmark counts."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from benchcore.errors import UsageError

# Of metrics that as many models have: the first of these, by the name up to a comma (what follows it is a filter).
PREFERRED = (
    "exact_match",
    "acc",
    "accuracy",
    "quasi_exact_match",
    "pass@1",
    "match",
    "choice",
    "includes",
    "score",
    "acc_norm",
    "f1",
)


@dataclass(frozen=True)
class MetricCount:
    """How much there is of a metric of a benchmark.

    Attributes:
        benchmark: name.
        metric: as in the table `scores`.
        models: that have scores by it.
        scores: of all models.
        shared: prompts on which all models that were asked for have one; 0 where none was.
    """

    benchmark: str
    metric: str
    models: int
    scores: int
    shared: int = 0


def declared(options: Sequence[str], benchmarks: Collection[str]) -> dict[str | None, str]:
    """Read `METRIC` and `BENCHMARK=METRIC`; the key None is for all benchmarks that are not named.

    Raises:
        UsageError: a benchmark is not in the coreset, or one is named twice.
    """
    wanted: dict[str | None, str] = {}
    for option in options:
        name, separator, metric = option.partition("=")
        benchmark = name if separator else None
        if separator and name not in benchmarks:
            near = difflib.get_close_matches(name, sorted(benchmarks), n=1)
            mend = f"Did you mean {near[0]}?" if near else f"There are {', '.join(sorted(benchmarks)[:8])}."
            raise UsageError(f"no benchmark '{name}' in the coreset", where=f"--metric {option}", mend=mend)
        if benchmark in wanted:
            raise UsageError("a metric was given twice", where=f"--metric {option}")
        wanted[benchmark] = metric if separator else option
    return wanted


def chosen(counts: Sequence[MetricCount], wanted: Mapping[str | None, str]) -> tuple[dict[str, str], list[str]]:
    """Choose one metric for each benchmark, and say where there was a choice.

    The declared one; else the one that most models have; among equals one that the models that were asked for share
    on at least half as many prompts as any; of these the first of PREFERRED, then the one with most scores, then the
    first by name.

    Returns:
        benchmark -> metric, and notes. A benchmark without the declared metric has none.

    Raises:
        UsageError: no benchmark has a metric that was declared.
    """
    by_benchmark: dict[str, list[MetricCount]] = {}
    for count in counts:
        by_benchmark.setdefault(count.benchmark, []).append(count)
    known = {count.metric for count in counts}
    for benchmark, metric in wanted.items():
        there = known if benchmark is None else {count.metric for count in by_benchmark.get(benchmark, [])}
        if there and metric not in there:
            near = difflib.get_close_matches(metric, sorted(there), n=1)
            mend = f"Did you mean {near[0]}?" if near else f"There are {', '.join(sorted(there)[:8])}."
            where = "--metric" if benchmark is None else f"--metric {benchmark}=..."
            raise UsageError(f"no scores by the metric '{metric}'", where=where, mend=mend)
    metrics: dict[str, str] = {}
    told: dict[str, list[str]] = {}
    for benchmark, found in sorted(by_benchmark.items()):
        names = sorted(count.metric for count in found)
        asked = wanted.get(benchmark, wanted.get(None))
        if asked is None:
            best = min(_shared(found), key=_rank)
            metrics[benchmark] = best.metric
            if len(found) > 1:
                said = f"scored by {', '.join(names)}; {best.metric} counts (--metric chooses)"
                told.setdefault(said, []).append(benchmark)
        elif asked in names:
            metrics[benchmark] = asked
        else:
            told.setdefault(f"no scores by {asked}, but by {', '.join(names)}", []).append(benchmark)
    return metrics, [f"{_named(of)}: {said}" for said, of in told.items()]


def _named(benchmarks: Sequence[str]) -> str:
    more = f" and {len(benchmarks) - 3:,} more benchmarks" if len(benchmarks) > 3 else ""
    return ", ".join(benchmarks[:3]) + more


def _shared(found: Sequence[MetricCount]) -> list[MetricCount]:
    """Metrics that most models have, without those that the models that were asked for hardly share prompts by."""
    models = max(count.models for count in found)
    most = max(count.shared for count in found if count.models == models)
    return [count for count in found if count.models == models and 2 * count.shared >= most]


def _rank(count: MetricCount) -> tuple[int, int, str]:
    base = count.metric.partition(",")[0]
    preference = PREFERRED.index(base) if base in PREFERRED else len(PREFERRED)
    return preference, -count.scores, count.metric
