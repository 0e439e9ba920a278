"""Results in Inspect's logs: one for each sample and epoch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchcore.errors import UsageError
from benchcore.harness.documents import Document, RawScore, Result
from benchcore.harness.inspect_ai.scores import raw_scores
from benchcore.harness.logs import files_at
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of
from benchcore.ingest.readers.inspect_content import message_texts
from benchcore.ingest.readers.inspect_logs import InspectLog, document_of, open_log, record_of
from benchcore.ingest.readers.opening import open_bytes

_ENDINGS = (".eval", ".json")
_REASON_CHARACTERS = 120


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """Yield the results of one log, or of all `.eval` and `.json` logs below a folder, in the order of their paths.

    A folder's files that are no logs are noted.

    Raises:
        UsageError: nothing at the path is a log of Inspect.
        BenchcoreError: a log is damaged or cut short.
    """
    read = 0
    for file in files_at(path, lambda name: name.endswith(_ENDINGS)):
        with open_bytes(str(file), str(file)) as stream:
            try:
                log = open_log(stream, str(file))
            except UsageError:
                if path.is_file():
                    raise
                notes.add("files that are no logs of Inspect", str(file))
                continue
            read += 1
            yield from _results(log, notes)
    if not read:
        raise UsageError("holds no log of Inspect", where=str(path), mend="Name .eval or .json logs of Inspect AI.")


def _results(log: InspectLog, notes: Notes) -> Iterator[Result]:
    if log.status != "success":
        notes.add(f"logs with status {log.status}", log.path)
    if log.samples is None:
        notes.add("logs without samples", log.path)
        return
    scorers = _scorers(log.header)
    for sample in log.samples:
        if sample.value is None:
            notes.add("unreadable", f"{log.path} {sample.label}: {sample.error}")
            continue
        _note(sample.value, f"{log.path} {sample.label}", notes)
        yield Result(
            document=_document(log, sample.value),
            model=str(log.header["eval"]["model"]),
            run=_run(log.header["eval"]),
            metrics=_metrics(sample.value, scorers),
            path=log.path,
            epoch=int(sample.value.get("epoch", 1)),
            time=time_of(log.header["eval"].get("created")),
        )


def _run(spec: dict[str, Any]) -> str:
    """One evaluation of one task by one model; `run_id` is shared by all that were started together."""
    if spec.get("eval_id"):
        return str(spec["eval_id"])
    return "/".join(str(spec[part]) for part in ("run_id", "task_id", "created") if spec.get(part))


def _scorers(header: dict[str, Any]) -> tuple[str, ...]:
    listed = header["eval"].get("scorers")
    named = [scorer.get("name") for scorer in listed if isinstance(scorer, dict)] if isinstance(listed, list) else []
    return tuple(str(name).rpartition("/")[2] for name in named if name)


def _metrics(sample: dict[str, Any], scorers: tuple[str, ...]) -> dict[str, RawScore]:
    """The scores; where a sample has none that count, since it failed or was set aside, they are missing."""
    scores = sample.get("scores")
    if scores is None and isinstance(sample.get("score"), dict):  # before there were several scorers
        scores = {scorers[0] if scorers else "score": sample["score"]}
    if not scores or sample.get("invalidation"):
        return dict.fromkeys(scores or scorers, None)
    return raw_scores(scores)


def _note(sample: dict[str, Any], where: str, notes: Notes) -> None:
    error, limit = sample.get("error"), sample.get("limit")
    if error:
        told = error.get("message", "") if isinstance(error, dict) else error
        reason = " ".join(str(told).split())[:_REASON_CHARACTERS]
        notes.add("samples that failed", f"{where}: {reason}", reason)
    if limit:
        notes.add("samples stopped at a limit", f"{where}: {limit.get('type') if isinstance(limit, dict) else limit}")
    if sample.get("invalidation"):
        notes.add("samples set aside (invalidated)", where)


def _document(log: InspectLog, sample: dict[str, Any]) -> Document:
    names = document_of(log, sample)
    target = sample.get("target")
    return Document(
        harness=str(names["harness"]),
        task=str(names["task"]),
        document_id=str(names["id"]),
        document_hash=str(names["hash"]),
        record=record_of(sample),
        request=_request(sample),
        answer="\n".join(str(one) for one in target) if isinstance(target, list) else target or None,
        choices=tuple(str(choice) for choice in sample.get("choices") or ()),
        version=names["version"],
    )


def _request(sample: dict[str, Any]) -> str:
    """What the model was sent, up to the user's last message; where the log lacks it, the sample's input."""
    messages = message_texts(sample.get("messages") or [])
    last = max((place for place, (role, _) in enumerate(messages) if role == "user"), default=None)
    sent = messages[: last + 1] if last is not None else message_texts(sample["input"])
    return "\n\n".join(text for _, text in sent)
