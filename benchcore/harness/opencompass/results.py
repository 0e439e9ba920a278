"""OpenCompass's results: `results/MODEL/DATASET.json` with `details`, and what was asked in `predictions`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from benchcore.errors import UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document, RawScore, Result
from benchcore.harness.logs import files_at, read_document, read_json_lines
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of

NAME = "opencompass"
_VERDICTS = ("correct", "is_correct", "score", "exact_match")
_ASKED = ("question", "prompt", "origin_prompt")
_ANSWERS = ("references", "refr", "answer", "gold", "reference")
_LEVELS = 6  # folders upwards in which the data set of an export is looked for


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """Yield the details of all results at or below a path.

    Details without a question take it from the predictions beside them, or from the exported data set above them.

    Raises:
        UsageError: there are no results.
        BenchcoreError: a file cannot be read.
    """
    found = files_at(path, lambda name: name.endswith(".json"))
    files = [file for file in found if _place(file) is not None]
    if not files:
        raise UsageError("holds no results/MODEL/DATASET.json", where=str(path))
    for file in files:
        document = read_document(file)
        details = document.get("details") if isinstance(document, dict) else None
        if not isinstance(details, dict | list):
            notes.add("results without details (run with --dump-eval-details)", str(file))
            continue
        yield from _read_file(file, document, _entries(details), notes)


def _place(file: Path) -> tuple[Path, str] | None:
    """A run's folder and the model of results/MODEL/DATASET.json; a model's name may hold slashes."""
    parts = file.resolve().parts
    if "results" not in parts[:-2]:
        return None
    at = len(parts) - 1 - parts[::-1].index("results")
    return Path(*parts[:at]), "/".join(parts[at + 1 : -1])


def _read_file(file: Path, document: Mapping[str, Any], details: Mapping[str, Any], notes: Notes) -> Iterator[Result]:
    run, model = _place(file) or (file.parent, "")
    asked = _predictions(run / "predictions" / model, file)
    exported = _exported(file, notes)
    rows = exported if len(exported) == len(details) else []
    if exported and not rows:
        notes.add("another number of details than the exported data set has rows", str(file))
    equal = _equality_is_the_score(document, details)
    for at, (key, detail) in enumerate(details.items()):
        if not isinstance(detail, dict):
            notes.add("unreadable", f"{file}, detail {key}")
            continue
        repeats = _repeats(detail)
        shown = {**asked.get(key, {}), **repeats[0]}
        request = _request(shown)
        row = rows[at] if rows and _fits(rows[at], request) else None
        if request is None and row is None:
            notes.add("details that do not show what was asked", f"{file}, detail {key}")
            continue
        shown_document = _document(key, shown, request, row, file.stem)
        for epoch, repeat in enumerate(repeats, 1):
            scores = _scores(repeat, equal)
            yield Result(
                shown_document,
                model=model,
                run=run.name,
                metrics=scores,
                path=str(file),
                epoch=epoch,
                time=time_of(run.name),
            )


def _repeats(detail: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers that one detail is of: newer versions keep a list of all runs' values for each field."""
    lists = [value for value in detail.values() if isinstance(value, list)]
    if "example_abbr" not in detail or not lists or not lists[0]:
        return [detail]
    runs = len(lists[0])
    each = [value if isinstance(value, list) and len(value) == runs else [value] * runs for value in detail.values()]
    return [dict(zip(detail, values, strict=True)) for values in zip(*each, strict=True)]


def _entries(details: dict[str, Any] | list[Any]) -> dict[str, Any]:
    """By index as text, without what is said of all of them (`type`)."""
    if isinstance(details, list):
        return {str(at): detail for at, detail in enumerate(details)}
    return {key: detail for key, detail in details.items() if not (key == "type" and isinstance(detail, str))}


def _document(
    key: str, shown: Mapping[str, Any], request: str | None, row: Mapping[str, Any] | None, task: str
) -> Document:
    answer = next((_text(shown[name]) for name in _ANSWERS if shown.get(name) is not None), None)
    record = {name: shown[name] for name in (*_ASKED, *_ANSWERS) if name in shown} | dict(row or {})
    return Document(
        harness=NAME,
        task=task,
        document_id=key,
        document_hash=content_digest(NAME, request or record.get("question"), answer),
        record=record,
        request=request or record.get("question"),
        answer=answer,
    )


def _request(shown: Mapping[str, Any]) -> str | None:
    """What was asked as text: of a conversation, what its turns say."""
    for name in _ASKED:
        value = shown.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list):
            turns = [turn.get("prompt") or turn.get("content") for turn in value if isinstance(turn, dict)]
            if text := "\n\n".join(turn for turn in turns if isinstance(turn, str)):
                return text
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _scores(detail: Mapping[str, Any], equal: bool) -> dict[str, RawScore]:
    found: dict[str, RawScore] = {}
    for name in _VERDICTS:
        if isinstance(detail.get(name), bool | int | float):
            found[name] = detail[name]
    if not found and equal:
        found["correct"] = _is_equal(detail)
    return found


def _is_equal(detail: Any) -> bool:
    return isinstance(detail, dict) and detail.get("predictions") == detail.get("references")


def _equality_is_the_score(document: Mapping[str, Any], details: Mapping[str, Any]) -> bool:
    """Whether predictions that equal their references make the accuracy: then a missing verdict can be told."""
    accuracy = document.get("accuracy")
    complete = all(isinstance(one, dict) and {"predictions", "references"} <= one.keys() for one in details.values())
    if not details or not complete or not isinstance(accuracy, int | float):
        return False
    share = 100 * sum(map(_is_equal, details.values())) / len(details)
    return math.isclose(share, accuracy, abs_tol=0.01)


def _predictions(folder: Path, file: Path) -> dict[str, Any]:
    """What was asked, by index: the predictions of the same run, which may lie in parts."""
    whole = folder / file.name
    parts: Sequence[Path] = [whole] if whole.is_file() else []
    if not parts:
        parts = []
        for number in count():
            part = folder / f"{file.stem}_{number}.json"
            if not part.is_file():
                break
            parts = [*parts, part]
    values = [value for part in parts for value in _values(read_document(part))]
    return {str(at): value for at, value in enumerate(values) if isinstance(value, dict)}


def _values(document: Any) -> list[Any]:
    return list(document.values()) if isinstance(document, dict) else document if isinstance(document, list) else []


def _exported(file: Path, notes: Notes) -> list[dict[str, Any]]:
    """The rows of our own data set of that name, if the run was made inside an export's folder."""
    for folder in file.resolve().parents[:_LEVELS]:
        data = folder / f"{file.stem}.jsonl"
        if data.is_file():
            rows = [row for _, row in read_json_lines(data, notes)]
            return rows if all(isinstance(row.get("prompt_id"), str) for row in rows) else []
    return []


def _fits(row: Mapping[str, Any], request: str | None) -> bool:
    return request is None or str(row.get("question")) in request
