"""Files of single instances: one line a model, instance and metric."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchcore.errors import UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document, RawScore, Result
from benchcore.harness.every_eval_ever.companion import Companion, Metric, check_sum, read_companion
from benchcore.harness.logs import files_at, plain_name, read_document, read_json_lines
from benchcore.harness.notes import Notes
from benchcore.leaderboard.reading.every_eval_ever import is_every_eval_ever

NAME = "every-eval-ever"
_UNDERSTOOD = ("0.1", "0.2", "0.3")
_REASON_CHARACTERS = 120
_INTERACTIONS = ("single_turn", "multi_turn", "agentic")
_NEEDED = ("evaluation_id", "model_id", "sample_id", "evaluation")
_OF_DOCUMENT = ("evaluation_name", "sample_id", "input", "metadata")  # what a model answered is none of it


class _NoInstance(ValueError):
    """A line is no instance of the schema; the message says why."""


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """Yield the instances in a file or below a folder; of aggregates without instances only their number is noted.

    Raises:
        UsageError: there is nothing of the schema at the path.
    """
    if path.is_file() and _is_json(plain_name(path)):
        files = _beside(path)
    else:
        files = files_at(path, lambda name: name.endswith(".jsonl"))
    found = False
    for file in files:
        for result in _read_file(file, notes):
            found = True
            yield result
    if not found and not _has_aggregates(path, notes):
        raise UsageError(
            "holds nothing in the schema of Every Eval Ever",
            where=str(path),
            mend="Its files are <uuid>.json with <uuid>_samples.jsonl or <uuid>.jsonl beside it.",
        )


def _beside(aggregate: Path) -> list[Path]:
    stem = plain_name(aggregate).removesuffix(".json")
    names = (f"{stem}_samples.jsonl", f"{stem}.jsonl")
    return [
        file
        for name in names
        for file in (aggregate.with_name(f"{name}{ending}") for ending in ("", ".gz", ".zst"))
        if file.is_file()
    ]


def _is_json(name: str) -> bool:
    return name.endswith(".json")


def _has_aggregates(path: Path, notes: Notes) -> bool:
    files = files_at(path, lambda name: name.endswith(".json"))
    aggregates = [
        file for file in files if plain_name(file).endswith(".json") and is_every_eval_ever(read_document(file))
    ]
    for file in aggregates:
        notes.add("aggregates without instances", str(file))
    return bool(aggregates)


def _read_file(file: Path, notes: Notes) -> Iterator[Result]:
    companion = read_companion(file, notes)
    check_sum(file, companion, notes)
    read = 0
    for row, line in read_json_lines(file, notes):
        read += 1
        try:
            result = _result(line, companion, str(file), notes, f"{file} row {row}")
        except _NoInstance as error:
            notes.add("unreadable", f"{file} row {row}: {error}")
            continue
        yield result
    told = companion.details.get("total_rows")
    if isinstance(told, int) and told != read:
        notes.add("another number of rows than the JSON says", f"{file}: {read:,} of {told:,}")


def _result(line: dict[str, Any], companion: Companion, path: str, notes: Notes, where: str) -> Result:
    if missing := [key for key in _NEEDED if line.get(key) in (None, "")]:
        raise _NoInstance(f"lacks {', '.join(missing)}")
    if not isinstance(line["evaluation"], dict):
        raise _NoInstance("'evaluation' is no object")
    version = ".".join(str(line.get("schema_version", "none")).split(".")[:2])
    if version not in _UNDERSTOOD:
        notes.add(f"schema version {version} is not known: read as far as it is understood", where)
    if line.get("interaction_type", "single_turn") not in _INTERACTIONS:
        notes.add("interaction type that is not known", f"{where}: {line['interaction_type']}")
    if line.get("error"):
        reason = " ".join(str(line["error"]).split())[:_REASON_CHARACTERS]
        notes.add("instances with an error of the model or harness", f"{where}: {reason}", reason)
    metric = _metric(line, companion)
    return Result(
        document=_document(line, companion),
        model=str(line["model_id"]),
        run=str(line["evaluation_id"]),
        metrics={metric.name: _score(line["evaluation"], metric, notes, where)},
        path=path,
        scales={} if metric.scale is None else {metric.name: metric.scale},
        time=companion.time,
    )


def _metric(line: dict[str, Any], companion: Companion) -> Metric:
    for key in ("evaluation_result_id", "evaluation_name"):
        if (found := companion.metrics.get(str(line.get(key)))) is not None:
            return found
    return Metric()


def _score(evaluation: dict[str, Any], metric: Metric, notes: Notes, where: str) -> RawScore:
    score = evaluation.get("score")
    if score is None:
        score = evaluation.get("is_correct")
    elif not isinstance(score, bool | int | float | str):
        notes.add("score that is no number", f"{where}: {type(score).__name__}")
        return None
    if metric.unknown and score == -1:
        return None  # the schema's word for a level that is not known
    return score if isinstance(score, bool | int | float | str) else None


def _document(line: dict[str, Any], companion: Companion) -> Document:
    given = line.get("input")
    asked = given if isinstance(given, dict) else {}
    request = asked.get("raw") if isinstance(asked.get("raw"), str) else None
    references, choices = _texts(asked.get("reference")), _texts(asked.get("choices"))
    task = str(line.get("evaluation_name") or "")
    told = line.get("sample_hash")
    own = content_digest("every-eval-ever", request, references, choices)
    unseen = str(line["sample_id"]) if not request else None  # nothing of the content is shown: the id must do
    return Document(
        harness=NAME,
        task=task,
        document_id=str(line["sample_id"]),
        document_hash=told if isinstance(told, str) and told.strip() else unseen or own,
        record={key: line[key] for key in _OF_DOCUMENT if key in line},
        request=request,
        answer=references[0] if references else None,
        choices=tuple(choices),
        version=companion.version,
    )


def _texts(value: Any) -> list[str]:
    """Texts of a list, or of a single one, which older files hold."""
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value if one is not None] if isinstance(value, list) else []
