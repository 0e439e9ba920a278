"""Files of a leaderboard as named columns: CSV, Parquet and JSON."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from benchcore.errors import UsageError
from benchcore.leaderboard.reading.documents import parsed
from benchcore.leaderboard.reading.names import MODEL_COLUMNS

Column = tuple[str, "Sequence[object] | pa.ChunkedArray"]
_PARQUET, _JSON, _LINES, _TEXT = (".parquet", ".pq"), (".json",), (".jsonl", ".ndjson"), (".csv", ".tsv", ".txt")


def read_columns(file: Path) -> list[Column]:
    """Read a file's columns in their order; names may come twice.

    Args:
        file: `.csv`, `.tsv`, `.parquet`, `.json` or `.jsonl`.

    Raises:
        UsageError: it cannot be read, or holds no table.
    """
    kind = file.suffix.lower()
    try:
        if kind in _PARQUET:
            columns = _parquet(file)
        elif kind in _JSON:
            columns = json_columns(parsed(file.read_text(encoding="utf-8-sig")), str(file))
        elif kind in _LINES:
            lines = [line for line in file.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
            columns = json_columns([parsed(line) for line in lines], str(file))
        elif kind in _TEXT:
            columns = _text(file)
        else:
            raise UsageError(
                f"'{kind or file.name}' is no kind of file that is known here",
                where=str(file),
                mend="Known are .csv, .tsv, .parquet, .json and .jsonl.",
            )
    except UnicodeDecodeError:
        raise UsageError("is not in UTF-8", where=str(file), mend="Save it as UTF-8.") from None
    except (OSError, pa.ArrowException, ValueError, csv.Error) as error:
        reason = str(getattr(error, "strerror", None) or error).splitlines()[0]
        if "straddling" in reason:
            reason = "a line or a quoted cell does not end"
        raise UsageError(f"cannot be read ({reason})", where=str(file)) from None
    if not columns or not len(columns[0][1]):
        raise UsageError("holds no rows", where=str(file))
    return columns


def listed(cells: Sequence[object] | pa.ChunkedArray) -> list[object]:
    """A column's cells as Python has them."""
    return cells.to_pylist() if isinstance(cells, pa.ChunkedArray) else list(cells)


def _parquet(file: Path) -> list[Column]:
    table = parquet.read_table(file)
    return list(zip(table.column_names, table.columns, strict=True))


def _text(file: Path) -> list[Column]:
    """All cells as text: types that are told by the first rows would fail on a later 'n/a'."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        first = lines.readline()
        if first.lstrip().startswith("<"):
            raise UsageError("is a page of HTML or XML, not a table", where=str(file))
        lines.seek(0)
        mark = "\t" if file.suffix.lower() == ".tsv" else max(",;\t", key=first.count)
        header = next(csv.reader(lines, delimiter=mark), [])
    unique = [str(number) for number in range(len(header))]
    table = arrow_csv.read_csv(
        file,
        read_options=arrow_csv.ReadOptions(column_names=unique, skip_rows_after_names=1),
        parse_options=arrow_csv.ParseOptions(delimiter=mark, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(unique, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    return list(zip([name.strip() for name in header], table.columns, strict=True))


def json_columns(document: Any, where: str) -> list[Column]:
    """Columns of a JSON document.

    Args:
        document: a list of objects (a row each); an object of objects (`{model: {task: score}}`); or an object with
            `models`, `tasks` and `scores` (a list of lists).
        where: for errors.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(document, dict) and {"models", "tasks", "scores"} <= set(document):
        models, tasks, scores = (document[name] for name in ("models", "tasks", "scores"))
        if not all(
            isinstance(part, list) for part in (models, tasks, scores, *(scores if isinstance(scores, list) else ()))
        ):
            raise UsageError("'models', 'tasks' and 'scores' are not lists, the last one of lists", where=where)
        if len(scores) != len(models) or any(len(row) != len(tasks) for row in scores):
            raise UsageError(f"'scores' is not {len(models)} lists of {len(tasks)} numbers each", where=where)
        return [("model", models), *((str(task), [row[at] for row in scores]) for at, task in enumerate(tasks))]
    if isinstance(document, dict) and document and all(isinstance(row, dict) for row in document.values()):
        if names := [name for name in document if name.lower() in MODEL_COLUMNS]:  # as data frames write it: by column
            rows = list(document[names[0]])
            return [(name, [cells.get(row) for row in rows]) for name, cells in document.items()]
        document = [{"model": name, **row} for name, row in document.items()]
    if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
        names = list(dict.fromkeys(name for row in document for name in row))
        return [(name, [row.get(name) for row in document]) for name in names]
    raise UsageError(
        "is no table",
        where=where,
        mend='Write a list of objects, {"MODEL": {"TASK": SCORE}}, or {"models": [], "tasks": [], "scores": [[]]}.',
    )
