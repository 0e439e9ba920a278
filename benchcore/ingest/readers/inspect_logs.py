"""Logs of Inspect AI, `.eval` and `.json`: what was evaluated, and its samples one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.readers import json_text
from benchcore.ingest.readers.inspect_archive import ZIP_MAGIC, Archive, TooLarge
from benchcore.ingest.readers.inspect_content import message_texts, sample_hash
from benchcore.ingest.readers.opening import DAMAGED, damaged, decompressed, open_bytes
from benchcore.ingest.readers.records import RawRecord, ReadUnit

HARNESS = "inspect"
DOCUMENT_BYTES = 256 * 1024**2  # a .json log is parsed whole, which takes about ten times its size

# The names are format.py's and eval.py's of inspect_ai.log: one member a sample, or a folder for one in pieces.
_SAMPLE = re.compile(r"samples/(.*)_epoch_([0-9]+)(\.json|/sample\.json)", re.DOTALL)
_ATTACHMENTS = re.compile(r"(samples/.*/)attachments/([0-9]{1,9})\.json", re.DOTALL)
_EPOCHS = 2**31  # what the table's column holds
_ATTACHMENT = "attachment://"
_RESOLVED = ("input", "target", "choices", "messages", "metadata")


@dataclass(frozen=True)
class Sample:
    """One sample of a log, or the reason why it cannot be read.

    Attributes:
        label: for messages.
        value: as the log has it, with texts that it keeps elsewhere put back; None where `error` is set.
    """

    label: str
    value: dict[str, Any] | None = None
    error: str | None = None


@dataclass(frozen=True)
class InspectLog:
    """One log.

    Attributes:
        header: the log without its samples: `eval`, `results`, ...
        status: success, error, cancelled, or started where the log has not been ended.
        samples: can be run through once, while the log's stream is open; None where the log keeps none.
    """

    path: str
    header: dict[str, Any]
    status: str
    samples: Iterator[Sample] | None

    @property
    def task(self) -> str:
        """The task's name, as the log has it."""
        return str(self.header["eval"]["task"])

    @property
    def version(self) -> str | None:
        """The task's version."""
        version = self.header["eval"].get("task_version")
        return None if version is None else str(version)


def open_log(stream: IO[bytes], path: str, limit: int = DOCUMENT_BYTES) -> InspectLog:
    """Read a log's header; its kind is known by its first bytes.

    Args:
        stream: the file, which can seek; it stays open while the samples are read.
        path: names it in messages.
        limit: bytes that are parsed at once: a `.json` log, a sample of an `.eval` log.

    Raises:
        UsageError: it is no log of Inspect.
        BenchcoreError: it is damaged or, as `.json`, larger than the limit.
    """
    head = stream.read(len(ZIP_MAGIC))
    stream.seek(0)
    return _from_archive(Archive(stream, path, limit)) if head == ZIP_MAGIC else _from_json(stream, path, limit)


def read_inspect(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield one record a sample of a log; further epochs add nothing.

    Beside the sample's own id, input, target, choices and metadata it has `task`, `hash` (of what is asked), `question`
    (the text of the input) and `expected` (the text of the target: of the choice that its letter names).

    Raises:
        UsageError, BenchcoreError: as `open_log`.
    """
    with open_bytes(unit.uri, unit.path) as stream:
        log = open_log(stream, unit.path, unit.max_document_bytes)
        if log.samples is None:
            raise BenchcoreError("holds no samples", where=unit.path, mend="Evaluate without --no-log-samples.")
        seen: set[tuple[str, str]] = set()
        row = 0
        for sample in log.samples:
            if sample.value is None:
                yield RawRecord(row, text=sample.label, error=sample.error)
                row += 1
                continue
            found = document_of(log, sample.value)
            key = (str(found["id"]), str(found["hash"]))
            if key not in seen:
                seen.add(key)
                yield RawRecord(row, record_of(sample.value) | _texts(sample.value, found), document=found)
                row += 1


def document_of(log: InspectLog, sample: dict[str, Any]) -> dict[str, str | None]:
    """The harness's own names of a sample: harness, task, id, hash and version."""
    hashed = sample_hash(sample.get("input"), sample.get("target"), sample.get("choices"))
    return {"harness": HARNESS, "task": log.task, "id": str(sample["id"]), "hash": hashed, "version": log.version}


def record_of(sample: dict[str, Any]) -> dict[str, Any]:
    """The fields of a sample that say what is asked."""
    return {field: sample.get(field) for field in ("id", "input", "target", "choices", "metadata")}


def choice_letter(place: int) -> str:
    """What Inspect calls a choice: A to Z, then 1, 2, ..."""
    return chr(ord("A") + place) if place < 26 else str(place - 25)


def _texts(sample: dict[str, Any], found: dict[str, str | None]) -> dict[str, Any]:
    target = sample.get("target")
    targets = [str(one) for one in target] if isinstance(target, list) else [str(target)] if target else []
    choices = {choice_letter(place): str(choice) for place, choice in enumerate(sample.get("choices") or ())}
    return {
        "task": found["task"],
        "hash": found["hash"],
        "question": "\n\n".join(text for _, text in message_texts(sample["input"])),
        "expected": "\n".join(choices.get(one, one) for one in targets),
    }


def _from_archive(archive: Archive) -> InspectLog:
    """A log that has not been ended has no header.json; what began it stands in a journal."""
    ended = "header.json" in archive.members
    name = "header.json" if ended else "_journal/start.json"
    if name not in archive.members:
        raise _no_log(archive.path, "a zip file without header.json")
    header = _parsed(archive, name)
    if isinstance(header, str) or not _is_header(header):
        raise _no_log(archive.path, f"its {name} is none of a log")
    status = str(header.get("status", "success")) if ended else "started"
    return InspectLog(archive.path, header, status, _members(archive))


def _members(archive: Archive) -> Iterator[Sample]:
    found = [(match, name) for name in archive.members if (match := _SAMPLE.fullmatch(name)) is not None]
    attachments = _attachments(archive)
    for match, name in sorted(found, key=lambda pair: (pair[0][2].zfill(20), pair[0][1].zfill(20), pair[1])):
        value = _parsed(archive, name)
        if isinstance(value, dict) and match[3] != ".json":
            folder = name.removesuffix("sample.json")
            value = _joined(archive, folder, value, attachments.get(folder, {}))
        yield _sample(value, f"{match[1]} epoch {match[2]}")


def _attachments(archive: Archive) -> dict[str, dict[str, int]]:
    """The folder of a sample in pieces -> its members with long texts -> number of the first text in each."""
    found: dict[str, dict[str, int]] = {}
    for name in archive.members:
        if (match := _ATTACHMENTS.fullmatch(name)) is not None:
            found.setdefault(match[1], {})[name] = int(match[2])
    return found


def _joined(archive: Archive, folder: str, sample: dict[str, Any], attachments: dict[str, int]) -> dict[str, Any] | str:
    """Put the metadata and the long texts of a sample in pieces back; its messages stay out."""
    metadata = _parsed(archive, f"{folder}metadata.json") if f"{folder}metadata.json" in archive.members else {}
    if sum(archive.members[name].file_size for name in attachments) > archive.limit:
        return f"its attachments are larger than {archive.limit} bytes"
    texts: dict[str, Any] = {}
    for name, first in attachments.items():
        listed = _parsed(archive, name)
        if isinstance(listed, str):
            return listed
        texts |= {str(first + place): text for place, text in enumerate(listed)}
    return metadata if isinstance(metadata, str) else {**sample, "metadata": metadata, "attachments": texts}


def _parsed(archive: Archive, name: str) -> Any:
    """The JSON value of a member that is an object or a list, or as text why there is none."""
    try:
        value = json_text.parse(archive.read(name).decode("utf-8"))
    except (TooLarge, json_text.NotJson, UnicodeDecodeError) as error:
        return str(error)
    return value if isinstance(value, dict | list) else "not a JSON object"


def _from_json(stream: IO[bytes], path: str, limit: int) -> InspectLog:
    try:
        data = decompressed(stream).read(limit + 1)
    except DAMAGED as error:
        raise BenchcoreError(damaged(error), where=path, mend="Nothing was taken from it. Copy it again.") from None
    if len(data) > limit:
        raise BenchcoreError(
            f"is larger than {limit} bytes, the most of a .json log that is read",
            where=path,
            mend="Convert it, which has no limit: inspect log convert LOG.json --to eval --output-dir FOLDER.",
        )
    try:
        header = json_text.parse(data.decode("utf-8"))
    except (UnicodeDecodeError, json_text.NotJson) as error:
        raise _no_log(path, str(error)) from None
    if not _is_header(header):
        raise _no_log(path, "no JSON object with eval.task and eval.model")
    listed = header.pop("samples", None)
    samples = None if listed is None else (_sample(value, f"sample {row}") for row, value in enumerate(listed))
    return InspectLog(path, header, str(header.get("status", "success")), samples)


def _is_header(header: Any) -> bool:
    spec = header.get("eval") if isinstance(header, dict) else None
    named = isinstance(spec, dict) and isinstance(spec.get("task"), str) and isinstance(spec.get("model"), str)
    return named and isinstance(header.get("samples"), list | None)


def _sample(value: Any, label: str) -> Sample:
    if isinstance(value, str):
        return Sample(label, error=value)
    if not isinstance(value, dict) or not isinstance(value.get("id"), str | int) or "input" not in value:
        return Sample(label, error="no sample with id and input")
    epoch = value.get("epoch", 1)
    if not isinstance(epoch, int) or not 1 <= epoch < _EPOCHS or not isinstance(value.get("scores"), dict | None):
        return Sample(label, error="epoch is not 1, 2, ..., or scores no object")
    if not isinstance(value.get("target"), str | list | None) or not isinstance(value.get("choices"), list | None):
        return Sample(label, error="target is no text, or choices no list")
    return _with_attachments(value, label)


def _with_attachments(value: dict[str, Any], label: str) -> Sample:
    texts = value.get("attachments")
    if not isinstance(texts, dict) or not texts:
        return Sample(label, value)
    put_back = _PutBack(texts)
    try:
        return Sample(label, {**value, **{field: put_back(value[field]) for field in _RESOLVED if field in value}})
    except (TooLarge, RecursionError) as error:
        return Sample(label, error=str(error))


class _PutBack:
    """Puts back the long texts that a log keeps under `attachments`, known by their address.

    One text can stand in a million places: together they may have as many characters as a log has bytes.
    """

    def __init__(self, texts: dict[str, Any]) -> None:
        self._texts, self._left = texts, DOCUMENT_BYTES

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith(_ATTACHMENT):
            text = self._texts.get(value.removeprefix(_ATTACHMENT), value)
            self._left -= len(text) if isinstance(text, str) else 0
            if self._left < 0:
                raise TooLarge(f"its attachments have more than {DOCUMENT_BYTES:,} characters where they stand")
            return text
        if isinstance(value, list):
            return [self(inner) for inner in value]
        return {key: self(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _no_log(path: str, reason: str) -> UsageError:
    return UsageError(f"is no log of Inspect: {reason}", where=path, mend="Name .eval or .json logs of Inspect AI.")
