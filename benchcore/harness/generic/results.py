"""Scores that somebody's own script wrote: a table with one row a result."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchcore.errors import UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document, RawScore, Result
from benchcore.harness.generic.rows import files_in, rows_in
from benchcore.harness.notes import Notes
from benchcore.ingest.templates import text_of


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """The rows with a prompt_id (or id) and a score; model, metric, run, epoch and filter where they have them.

    Raises:
        UsageError: the first row has no id or no score.
        BenchcoreError: a file cannot be read to its end.
    """
    for file in files_in(path):
        first = True
        for record in rows_in(file, notes):
            row = record.value
            if first:
                _require_columns(row, file)
                first = False
            if not isinstance(row, Mapping) or _identity(row) is None or "score" not in row:
                notes.add("unreadable", f"{file} row {record.row}: no prompt_id or no score")
                continue
            epoch = _epoch(row.get("epoch"))
            if epoch is None:
                notes.add("unreadable", f"{file} row {record.row}: its epoch is {row.get('epoch')!r}, not 1, 2, ...")
                continue
            yield _result(row, epoch, file)


def _result(row: Mapping[str, Any], epoch: int, file: Path) -> Result:
    names = ("prompt_id", "content_hash", "benchmark", "prompt")
    shown = {name: text for name in names if (text := text_of(row.get(name)))}
    document = Document(
        harness="jsonl",
        task=text_of(row.get("benchmark")),
        document_id=_identity(row) or "",
        document_hash=content_digest("result", _identity(row), shown),
        record=shown,
    )
    return Result(
        document=document,
        model=text_of(row.get("model")),
        run=text_of(row.get("run")),
        metrics={text_of(row.get("metric")) or "score": _score(row["score"])},
        path=str(file),
        epoch=epoch,
        filter=text_of(row.get("filter")) or None,
    )


def _require_columns(row: Any, file: Path) -> None:
    if not isinstance(row, Mapping):
        raise UsageError("its rows are no objects with fields", where=str(file))
    for wanted, there in (("prompt_id", _identity(row) is not None), ("score", "score" in row)):
        if not there:
            near = difflib.get_close_matches(wanted, [str(name) for name in row], n=1)
            hint = f"Did you mean its '{near[0]}'? " if near else f"It has {', '.join(map(str, list(row)[:10]))}. "
            mend = f"{_other_delimiter(row) or hint}Files that are made otherwise are read with --map."
            raise UsageError(f"its first row has no '{wanted}'", where=str(file), mend=mend)


def _other_delimiter(row: Mapping[Any, Any]) -> str:
    """What to do about a table that was read as one column."""
    header = str(next(iter(row), ""))
    found = next((one for one in ";|\t" if one in header), None)
    if len(row) != 1 or found is None:
        return ""
    return f"Its only column is {header[:60]!r}: the delimiter seems to be {found!r}, which a map can declare. "


def _identity(row: Mapping[str, Any]) -> str | None:
    return text_of(row.get("prompt_id")) or text_of(row.get("id")) or None


def _epoch(written: Any) -> int | None:
    if written is None or written == "":
        return 1
    try:
        number = int(written)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 1 <= number < 2**31 and float(written) == number else None


def _score(raw: Any) -> RawScore:
    return raw if raw is None or isinstance(raw, bool | int | float | str) else text_of(raw)
