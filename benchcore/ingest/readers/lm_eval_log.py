"""Sample logs of lm-evaluation-harness (`samples_<task>_<date>.jsonl`): what a line says of the document.

A line is one document under one filter. Shapes differ by version: old ones lack `filter`, `metrics` and the hashes;
`arguments` is a list of lists where new ones have `{"gen_args_0": {"arg_0": ...}}`; and for a while the file was one
JSON list, `samples_<task>_<date>.json`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from benchcore.errors import BenchcoreError
from benchcore.ingest.readers import json_text
from benchcore.ingest.readers.documents import read_document
from benchcore.ingest.readers.lines import read_lines
from benchcore.ingest.readers.opening import DAMAGED, decompressed, open_bytes
from benchcore.ingest.readers.records import RawRecord, ReadUnit

HARNESS = "lm-eval"
UNFILTERED = "none"  # lm-eval's own name of the filter that is none

# From the end: the name of a task may hold underscores and dates.
_LOG_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)\.jsonl?(?:\.gz|\.zst|\.zstd)?",
    re.DOTALL,
)
_NOT_JSON = re.compile(r"\b(?:NaN|Infinity)\b|\d[eE]\+?\d{3}")
_RESULTS_BYTES = 256 * 1024**2
_HEAD_BYTES = 64


class LogName(NamedTuple):
    """What the name of a log says."""

    task: str
    date: str


def log_name(name: str) -> LogName | None:
    """Take the name of a file apart; None where it is no sample log's."""
    found = _LOG_NAME.fullmatch(name)
    return LogName(found["task"], found["date"]) if found else None


def lines_of(unit: ReadUnit) -> Iterator[RawRecord]:
    """The lines of a sample log, streamed; or the elements of one that is a JSON list, which is parsed whole.

    Raises:
        BenchcoreError: it cannot be read to its end, or is a list beyond `max_document_bytes`.
    """
    with open_bytes(unit.uri, unit.path) as stream:
        try:
            begins_list = decompressed(stream).read(_HEAD_BYTES).lstrip().startswith(b"[")
        except DAMAGED:
            begins_list = False
    read = read_document if begins_list else read_lines
    return read(replace(unit, format="json-list" if begins_list else "json-lines"))


def line_problem(value: Any) -> str | None:
    """Why a parsed line is none of a sample log; None where it is one."""
    if not isinstance(value, Mapping):
        return "not a line of an lm-eval sample log: it is no JSON object"
    missing = [name for name in ("doc_id", "doc") if name not in value]
    if missing:
        return f"not a line of an lm-eval sample log: it has no '{missing[0]}'"
    return None if isinstance(value["doc_id"], int | str) else "doc_id is neither a number nor a text"


def document_hash(line: Mapping[str, Any], text: str | None) -> str:
    """The line's hash of its document; where an old log lacks it, computed as lm-eval does.

    Args:
        line: the parsed line.
        text: the line as it stands in the file: NaN and numbers beyond doubles, which `line` has as null, count in
            the hash as they were.
    """
    given = line.get("doc_hash")
    if isinstance(given, str) and given:
        return given
    document = json.loads(text)["doc"] if text is not None and _NOT_JSON.search(text) else line["doc"]
    written = json.dumps(document, indent=2, ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def filter_of(line: Mapping[str, Any]) -> str:
    """The filter that a line belongs to; old logs have none."""
    return str(line.get("filter") or UNFILTERED)


def requests_of(line: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What the model was sent: (context, continuation or generation settings) of each request."""
    pairs = [_elements(request) for request in _elements(line.get("arguments"))]
    return [(pair[0], pair[1] if len(pair) > 1 else None) for pair in pairs if pair and isinstance(pair[0], str)]


def turns_of(context: str) -> list[str]:
    """The messages of a chat (models behind an API get them as JSON) up to the user's last; any other text alone."""
    if not context.startswith("[{"):
        return [context]
    try:
        messages = json_text.parse(context)
    except json_text.NotJson:
        return [context]
    said = [(message.get("role"), message.get("content")) for message in messages if isinstance(message, dict)]
    last = max((place for place, (role, _) in enumerate(said) if role == "user"), default=-1)
    texts = [_message_text(content) for _, content in said[: last + 1]]
    return texts or [context]


def options_of(line: Mapping[str, Any]) -> tuple[str, ...]:
    """The options of a multiple choice: those that the document lists, else the continuations that were scored."""
    sent = requests_of(line)
    scored = [given.strip() for context, given in sent if isinstance(given, str) and context == sent[0][0]]
    if len(set(scored)) < max(2, len(scored)):
        scored = []
    listed = _listed_options(line["doc"])
    return tuple(listed if listed and (not scored or len(listed) == len(scored)) else scored)


def expected_of(line: Mapping[str, Any], options: tuple[str, ...]) -> str | None:
    """The target as text: where it is the number of an option that was scored, that option."""
    target = line.get("target")
    if target is None or target == "":
        return None
    if not isinstance(target, str):
        target = json.dumps(target, ensure_ascii=False)
    is_scored = any(isinstance(given, str) for _, given in requests_of(line))
    if is_scored and target.isdecimal() and len(target) < 4 and int(target) < len(options):
        return options[int(target)]
    return target


def _listed_options(doc: Any) -> list[str]:
    for name in ("choices", "options", "endings"):
        found = doc.get(name) if isinstance(doc, Mapping) else None
        found = found.get("text") if isinstance(found, Mapping) else found
        if isinstance(found, list) and found and all(isinstance(option, str) for option in found):
            return found
    return []


def _elements(value: Any) -> list[Any]:
    """Elements of a list, or of an object whose keys count them."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _message_text(content: Any) -> str:
    """The text of a message: itself, or the texts among its parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in _elements(content) if isinstance(part, Mapping) and "text" in part)


def read_lm_eval(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield one record a document: its own fields, and what the log says of it (docs/sources.md).

    Of a document that is there under several filters, the first line is taken.

    Raises:
        BenchcoreError: the file has no name of a sample log, or cannot be read to its end.
    """
    path = PurePosixPath(unit.path)
    name = log_name(path.name)
    if name is None:
        raise BenchcoreError(
            "is not named as lm-eval names its sample logs, so its task is not known",
            where=unit.path,
            mend="Give it its name back, samples_TASK_DATE.jsonl; --output_path is a folder of them.",
        )
    version = _version(unit, name)
    seen: set[tuple[Any, Any]] = set()
    for record in lines_of(unit):
        if record.error is None and (problem := line_problem(record.value)) is not None:
            yield RawRecord(record.row, text=record.text, error=problem)
        elif record.error is not None:
            yield record
        else:
            found = _document(record, name.task, version)
            key = (found.value["doc_id"], found.value["doc_hash"])
            if key not in seen:
                seen.add(key)
                yield found


def _document(record: RawRecord, task: str, version: str | None) -> RawRecord:
    line, doc = record.value, record.value["doc"]
    sent, options = requests_of(line), options_of(line)
    known = {
        "doc": doc,
        "task": task,
        "doc_id": line["doc_id"],
        "doc_hash": document_hash(line, record.text),
        "target": line.get("target"),
        "request": turns_of(sent[0][0])[-1] if sent else None,
        "options": list(options),
        "expected": expected_of(line, options),
    }
    document: dict[str, str | None] = {
        "harness": HARNESS,
        "task": task,
        "id": str(line["doc_id"]),
        "hash": known["doc_hash"],
        "version": version,
    }
    value = {**(doc if isinstance(doc, Mapping) else {}), **known}
    return RawRecord(record.row, value, text=record.text, document=document)


def _version(unit: ReadUnit, name: LogName) -> str | None:
    """The task's version, from the results file beside the log where there is one."""
    folder = unit.uri.rpartition("/")[0]
    try:
        with open_bytes(f"{folder}/results_{name.date}.json", unit.path) as stream:
            results = json_text.parse(stream.read(_RESULTS_BYTES).decode("utf-8"))
    except (BenchcoreError, json_text.NotJson, UnicodeDecodeError):
        return None
    versions = results.get("versions") if isinstance(results, dict) else None
    version = versions.get(name.task) if isinstance(versions, dict) else None
    return None if version is None else str(version)
