"""lighteval's details: a Parquet file a model, date and task, a row a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document, RawScore, Result
from benchcore.harness.logs import files_at
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of

NAME = "lighteval"
SUBSET = "-benchcore"  # what `subset.py` puts behind a task's name
_ROWS = 256  # at a time
_DOC, _METRIC = ("doc", "__doc__"), ("metric", "__metric__", "metrics")  # newest first
_FLAT = ("query", "example", "instruction", "choices", "gold_index", "gold", "specifics")  # before there was `doc`


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """Yield the documents of all details files at or below a path, in the order of files and rows.

    Raises:
        UsageError: there are none, or a file is no details file.
        BenchcoreError: a file cannot be read.
    """
    files = files_at(path, lambda name: name.startswith("details_") and name.endswith(".parquet"))
    if not files:
        raise UsageError("holds no details_*.parquet", where=str(path), mend="Run lighteval with --save-details.")
    for file in files:
        yield from _read_file(file, notes)


def document_digest(query: str, choices: list[str], gold: list[int]) -> str:
    """Hash what is asked and what counts as right; the tasks that we hand out do the same."""
    return content_digest(NAME, query, choices, gold)


def _read_file(file: Path, notes: Notes) -> Iterator[Result]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(file)
        names = parquet.schema_arrow.names
        doc, metric = (next((one for one in known if one in names), None) for known in (_DOC, _METRIC))
        if metric is None or (doc is None and not {"query", "example"} & set(names)):
            raise UsageError("is no details file of lighteval: it lacks doc or metric", where=str(file))
        columns = [metric, *([doc] if doc else [name for name in _FLAT if name in names])]
        row = 0
        for batch in parquet.iter_batches(_ROWS, columns=columns):
            for record in batch.to_pylist():
                row += 1
                shown = record[doc] if doc else {key: value for key, value in record.items() if key != metric}
                if (result := _result(shown, record[metric], file, row, notes)) is not None:
                    yield result
    except (pa.ArrowException, OSError) as error:
        raise BenchcoreError(f"cannot be read ({str(error).splitlines()[0]})", where=str(file)) from None


def _result(doc: Any, metrics: Any, file: Path, row: int, notes: Notes) -> Result | None:
    query = (doc.get("query") or doc.get("example")) if isinstance(doc, dict) else None
    if not isinstance(query, str) or not isinstance(metrics, dict):
        notes.add("unreadable", f"{file} row {row}: no query or no metrics")
        return None
    named, date = file.stem.removeprefix("details_").rpartition("_")[::2]
    task, shots = _task(str(doc.get("task_name") or named))
    return Result(
        document=_document(doc, query, task, row - 1),
        model=_model(file),
        run=f"{date}|{shots}" if shots else date,
        metrics=_scores(metrics, file, row, notes),
        path=str(file),
        time=time_of(date),
    )


def _document(doc: Mapping[str, Any], query: str, task: str, row: int) -> Document:
    choices = _listed(doc.get("choices"))
    gold = [one for one in _listed(doc.get("gold_index")) if isinstance(one, int) and 0 <= one < len(choices)]
    texts = [str(choice) for choice in choices]
    kept = ("id", "query", "original_query", "choices", "gold_index", "specific", "specifics")
    return Document(
        harness=NAME,
        task=task,
        document_id=str(doc["id"]) if doc.get("id") not in (None, "") else str(row),
        document_hash=document_digest(query, texts, gold),
        record={key: doc[key] for key in kept if doc.get(key) is not None},
        request=query,
        answer=texts[gold[0]].strip() if gold else None,
        choices=tuple(text.strip() for text in texts) if len(texts) > 1 else (),
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _task(name: str) -> tuple[str, str]:
    """A task's own name and its number of examples; older names begin with a suite, ours end with `SUBSET`."""
    parts = name.split("|")
    task = parts[1] if len(parts) > 2 else parts[0]
    return task.removesuffix(SUBSET), parts[-1] if len(parts) > 1 else ""


def _model(file: Path) -> str:
    """The folders between `details` and the date; a model's name may hold slashes."""
    parts = file.resolve().parts[:-2]
    return "/".join(parts[len(parts) - parts[::-1].index("details") :]) if "details" in parts else ""


def _scores(metrics: Mapping[str, Any], file: Path, row: int, notes: Notes) -> dict[str, RawScore]:
    """Numbers; what a metric keeps for the corpus (lists, pairs) is none."""
    found: dict[str, RawScore] = {}
    for name, value in metrics.items():
        if value is None or isinstance(value, bool | int | float):
            found[name] = value
        else:
            notes.add("metrics that are no score of one document", f"{file} row {row}: {name}")
    return found
