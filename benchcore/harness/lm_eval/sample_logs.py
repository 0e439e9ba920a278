"""lm-eval's sample logs: one line a document and filter, streamed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Document, RawScore, Result, Scale
from benchcore.harness.lm_eval.run_files import Folders, Run, run_of
from benchcore.harness.logs import LARGEST_LINE, files_at
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of
from benchcore.ingest.readers.lm_eval_log import (
    HARNESS,
    LogName,
    document_hash,
    expected_of,
    filter_of,
    line_problem,
    lines_of,
    log_name,
    options_of,
    requests_of,
    turns_of,
)
from benchcore.ingest.readers.records import RawRecord, ReadUnit

_DOCUMENT = ("doc_id", "doc", "target", "doc_hash", "prompt_hash", "target_hash")
_ANSWER = ("arguments", "resps", "filtered_resps", "filter", "metrics")
_NO_METRICS = frozenset((*_DOCUMENT, *_ANSWER))
_BYPASS = "bypass"  # what --predict_only puts in place of a metric
_UNBOUNDED = Scale(0.0, math.inf, lower_is_better=True)  # lm-eval says the direction, never the range


def results(path: Path, notes: Notes) -> Iterator[Result]:
    """Read the sample logs at a path: a file, or all below a folder, by folder, then task, then date.

    Noted are lines that cannot be read, files that end too early, and metrics that are no number.

    Raises:
        UsageError: there is no sample log.
    """
    files = files_at(path, lambda name: log_name(name) is not None)
    if not files:
        raise UsageError(
            "holds no sample log of lm-eval (samples_TASK_DATE.jsonl)",
            where=str(path),
            mend="Run lm_eval with --log_samples and --output_path, and give the folder that it wrote.",
        )
    folders = Folders()
    for file in files:
        name = log_name(file.name)
        if name is None:
            raise UsageError(
                "is not named as lm-eval names its sample logs (samples_TASK_DATE.jsonl), so its task is not known",
                where=str(file),
                mend="Name it samples_TASK_2026-01-31T12-00-00.jsonl, after its task and when it was run.",
            )
        yield from _of_file(file, name, folders, notes)


def _of_file(file: Path, name: LogName, folders: Folders, notes: Notes) -> Iterator[Result]:
    run = run_of(folders, file.parent, name.date, notes)
    guessed = run.model is None
    if guessed:
        run = replace(run, model=folders.model(file.parent.resolve()))
    unit = ReadUnit(uri=str(file), path=str(file), format="lm-eval", max_document_bytes=LARGEST_LINE)
    try:
        for record in lines_of(unit):
            problem = record.error or line_problem(record.value)
            if problem is not None:
                notes.add("unreadable", f"{file} row {record.row}: {problem}")
                continue
            yield _result(record, file, name, run, notes, guessed=guessed)
    except BenchcoreError as error:  # what stands before the damage is whole
        notes.add("cut short", f"{error.where}: {error.what}")


def _result(record: RawRecord, file: Path, name: LogName, run: Run, notes: Notes, *, guessed: bool) -> Result:
    line = record.value
    metrics = _metrics(line, f"{file} row {record.row}", notes)
    lower = run.lower_is_better.get(name.task, frozenset())
    return Result(
        document=_document(record, name, run),
        model=run.model or "",
        run=name.date,
        metrics=metrics,
        path=str(file),
        filter=filter_of(line),
        scales={metric: _UNBOUNDED for metric in metrics if metric in lower},
        time=time_of(name.date.replace(":", "-")),
        model_is_guessed=guessed,
    )


def _document(record: RawRecord, name: LogName, run: Run) -> Document:
    line, doc = record.value, record.value["doc"]
    sent, options = requests_of(line), options_of(line)
    return Document(
        harness=HARNESS,
        task=name.task,
        document_id=str(line["doc_id"]),
        document_hash=document_hash(line, record.text),
        record=doc if isinstance(doc, Mapping) else {"doc": doc},
        request="\n\n".join(turns_of(sent[0][0])) if sent else None,
        answer=expected_of(line, options),
        choices=options,
        version=run.versions.get(name.task),
    )


def _metrics(line: Mapping[str, Any], where: str, notes: Notes) -> dict[str, RawScore]:
    """The scores on a line: the metrics that it lists, or in old logs whatever number is not of another meaning.

    Metrics of whole tasks (f1, perplexity) leave their ingredients on the line, no score of the document.
    """
    named = line.get("metrics")
    if isinstance(named, list):
        found = {str(metric): line.get(metric) for metric in named if isinstance(metric, str) and metric != _BYPASS}
    else:
        found = {metric: value for metric, value in line.items() if metric not in _NO_METRICS and _is_number(value)}
    for metric, value in found.items():
        if not (_is_number(value) or isinstance(value, str)):
            notes.add("no score of one document", f"{where}: '{metric}' is {type(value).__name__}")
    return {metric: value for metric, value in found.items() if _is_number(value) or isinstance(value, str)}


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float)
