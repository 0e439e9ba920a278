"""Which of a model's runs counts on a prompt: the newest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import pyarrow as pa

from benchcore.registry.scores import age, dated

Times = Mapping[tuple[str, str], datetime | None]
"""(model, run) -> when it was measured, as far as that is known."""

_LISTED = 3


def times_of(rows: pa.Table) -> dict[tuple[str, str], datetime | None]:
    """When each run was measured: the time of its newest score among the rows; runs in their order, the newest last."""
    found = rows.group_by(["model", "run"]).aggregate([("measured_at", "max")]).to_pylist()
    times = {(row["model"], row["run"]): row["measured_at_max"] for row in found}
    return {key: times[key] for key in sorted(times, key=lambda key: (key[0], age(key[1], times[key])))}


def newest(rows: pa.Table, times: Times) -> pa.Table:
    """One row for each model and prompt: the mean over epochs of the newest run."""
    if len(times) > len({model for model, _ in times}):
        models, runs = zip(*times, strict=True)
        order = pa.table({"model": models, "run": runs, "age": pa.array(range(len(times)), pa.int64())})
        rows = rows.join(order, ["model", "run"])
        latest = rows.group_by(["model", "row"]).aggregate([("age", "max")]).rename_columns(["model", "row", "age"])
        rows = rows.join(latest, ["model", "row", "age"], join_type="left semi")
    means = rows.sort_by([("model", "ascending"), ("row", "ascending"), ("epoch", "ascending")])
    means = means.group_by(["model", "row", "run"], use_threads=False).aggregate([("score", "mean")])
    return means.rename_columns(["model", "row", "run", "score"])


def remarks(times: Times, counts: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, str]]:
    """Of each model with several runs, which of them counts.

    Args:
        times: of all runs.
        counts: model -> run -> on how many prompts its score counts.
    """
    runs: dict[str, list[str]] = {}
    for model, run in times:
        runs.setdefault(model, []).append(run)
    for model, names in sorted(runs.items()):
        counting = [run for run in reversed(names) if run in counts[model]]
        if len(names) > 1 and len(counting) == 1:
            yield model, f"{len(names)} runs; {dated(counting[0], times[model, counting[0]])} counts (--run NAME)"
        elif len(names) > 1:
            told = ", ".join(
                f"{_prompts(counts[model][run])} from {dated(run, times[model, run])}" for run in counting[:_LISTED]
            )
            more = f" and {len(counting) - _LISTED} more" if len(counting) > _LISTED else ""
            yield model, f"scores of {len(names)} runs, the newest of each prompt: {told}{more} (--run NAME)"


def _prompts(count: int) -> str:
    return "1 prompt" if count == 1 else f"{count:,} prompts"
