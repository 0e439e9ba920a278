"""Aggregates in the schema of Every Eval Ever: one JSON a model and benchmark."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale, counted, named
from benchcore.leaderboard.reading.cells import plain
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.documents import load
from benchcore.leaderboard.reading.raw import RawScores

_UNDERSTOOD = ("0.1", "0.2", "0.3")
_UNITS = {"proportion": (0.0, 1.0), "fraction": (0.0, 1.0), "percent": (0.0, 100.0), "percentage": (0.0, 100.0)}


@dataclass(frozen=True)
class _Result:
    model: str
    evaluation: str
    dataset: str
    metric: str
    scale: Scale | None
    lower_is_better: bool
    score: float
    time: float


def is_every_eval_ever(document: Any) -> bool:
    """Whether a document is an aggregate of Every Eval Ever."""
    return (
        isinstance(document, dict) and "model_info" in document and isinstance(document.get("evaluation_results"), list)
    )


def read_every_eval_ever(folder: Path, files: Sequence[Path], declared: Declared) -> RawScores:
    """Read aggregates: a task is an evaluation, with its data set and metric where its name alone is not one task.

    Of several results of a model on a task the newest counts. Scales and directions are those that the files declare.

    Args:
        folder: for errors; `files` lie below it.
        files: JSON files.
        declared: scales and directions in it win.

    Raises:
        UsageError: no file holds a result, or files declare different scales for a task.
    """
    versions: Counter[str] = Counter()
    strange: list[str] = []
    results: list[_Result] = []
    for file in files:
        document = load(file)
        if not is_every_eval_ever(document):
            strange.append(str(file.relative_to(folder)))
            continue
        versions[".".join(str(document.get("schema_version", "none")).split(".")[:2])] += 1
        found, skipped = _results(document, str(file.relative_to(folder)))
        results += found
        strange += skipped
    if not results:
        raise UsageError("holds no result in the schema of Every Eval Ever", where=str(folder))
    names = _task_names(results)
    newest: dict[tuple[str, str], _Result] = {}
    for result in sorted(results, key=lambda one: one.time):
        newest[result.model, names[result.evaluation, result.dataset, result.metric]] = result
    models = tuple(sorted({model for model, _ in newest}))
    tasks = tuple(sorted({task for _, task in newest}))
    values = np.full((len(models), len(tasks)), np.nan)
    row, column = ({name: at for at, name in enumerate(every)} for every in (models, tasks))
    for (model, task), result in newest.items():
        values[row[model], column[task]] = result.score
    told = {task: [result for (_, own), result in newest.items() if own == task] for task in tasks}
    notes = _notes(results, newest, versions, strange)
    known = _scales(told, declared, str(folder))
    if undeclared := [task for task in tasks if task not in known and any(r.lower_is_better for r in told[task])]:
        raise UsageError(
            f"lower is better in {named(undeclared)}, and the files do not say from where to where scores go",
            where=str(folder),
            mend="Declare it, for example --scale TASK=0:10.",
        )
    if unsaid := [task for task in tasks if task not in known]:
        notes.append(f"files do not say from where to where scores go, which is told by their range: {named(unsaid)}")
    return RawScores(str(folder), models, tasks, values, np.zeros(values.shape, np.bool_), None, known, tuple(notes))


def _results(document: Any, where: str) -> tuple[list[_Result], list[str]]:
    about = document["model_info"]
    model = plain(str(about.get("id") or about.get("name") or ""))
    found, skipped = [], []
    for at, entry in enumerate(document["evaluation_results"]):
        try:
            metric = entry.get("metric_config") or {}
            score = _number(entry["score_details"]["score"])
            if score is None or not model:
                raise KeyError("score")
            if metric.get("has_unknown_level") and score == -1:
                continue  # the schema's word for a level that is not known
            source = entry.get("source_data") or {}
            time = entry.get("evaluation_timestamp") or document.get("evaluation_timestamp")
            found.append(
                _Result(
                    model=model,
                    evaluation=plain(str(entry["evaluation_name"])),
                    dataset=str(source.get("dataset_name") or "") if isinstance(source, dict) else "",
                    metric=str(metric.get("metric_id") or metric.get("metric_name") or ""),
                    scale=scale_of(metric),
                    lower_is_better=bool(metric.get("lower_is_better")),
                    score=score,
                    time=_number(time) or _number(document.get("retrieved_timestamp")) or 0.0,
                )
            )
        except (KeyError, TypeError, AttributeError):
            skipped.append(f"{where}, result {at}")
    return found, skipped


def _number(value: Any) -> float | None:
    """A finite number, also one that was written as text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def scale_of(metric: Any) -> Scale | None:
    """What a `metric_config` says about from where to where scores go, in figures or by its unit."""
    low, high = _number(metric.get("min_score")), _number(metric.get("max_score"))
    if low is None or high is None or not low < high:
        low, high = _UNITS.get(str(metric.get("metric_unit")), (None, None))
    return None if low is None or high is None else Scale(low, high, bool(metric.get("lower_is_better")))


def _task_names(results: Iterable[_Result]) -> dict[tuple[str, str, str], str]:
    """The evaluation's name, and more where several data sets or metrics share it."""
    datasets: dict[str, set[str]] = defaultdict(set)
    metrics: dict[tuple[str, str], set[str]] = defaultdict(set)
    for result in results:
        datasets[result.evaluation].add(result.dataset)
        metrics[result.evaluation, result.dataset].add(result.metric)
    names = {}
    for (evaluation, dataset), own in metrics.items():
        name = f"{dataset}/{evaluation}" if len(datasets[evaluation]) > 1 and dataset else evaluation
        for metric in own:
            names[evaluation, dataset, metric] = f"{name}:{metric}" if len(own) > 1 and metric else name
    return names


def _scales(told: dict[str, list[_Result]], declared: Declared, where: str) -> dict[str, Scale]:
    known = {}
    for task, results in told.items():
        scales = {result.scale for result in results if result.scale is not None}
        if len(scales) > 1 and task not in declared.scales and declared.scale is None:
            spans = ", ".join(sorted(f"{scale.low:g} to {scale.high:g}" for scale in scales))
            raise UsageError(
                f"files declare different scales or directions for '{task}' ({spans})",
                where=where,
                mend=f"Say which is right with --scale '{task}=LOW:HIGH', or leave it out with --ignore.",
            )
        if scales:
            known[task] = min(scales, key=lambda scale: (scale.low, scale.high))
    return known


def _notes(
    results: Sequence[_Result], newest: dict[tuple[str, str], _Result], versions: Counter[str], strange: Sequence[str]
) -> list[str]:
    notes = [f"read {counted(len(newest), 'result')} in the schema of Every Eval Ever"]
    if len(results) > len(newest):
        notes.append(
            f"{counted(len(results) - len(newest), 'result')} gave way to newer ones of the same model and task"
        )
    if unknown := {version: times for version, times in versions.items() if version not in _UNDERSTOOD}:
        told = ", ".join(f"{version} {times:,}x" for version, times in unknown.items())
        notes.append(f"schema versions that are not known here were read as far as they are understood: {told}")
    if strange:
        notes.append(f"not understood: {named(list(strange))} ({len(strange):,} in all)")
    return notes
