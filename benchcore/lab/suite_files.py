"""Reading a suite's folder: prompts from JSON lines, scores from Parquet or CSV, and what can be wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, parquet

from benchcore.errors import UsageError

PROMPTS = "prompts.jsonl"
_SCORES = ("correct.parquet", "scores.parquet", "correct.csv", "scores.csv")
_GROUPS = ("benchmark", "task", "category")
_ID = "prompt_id"
_TEXT_IDS = csv.ConvertOptions(column_types={_ID: pa.string()})


@dataclass(frozen=True)
class Prompts:
    """A file of prompts.

    Attributes:
        ids: distinct.
        groups: of each, empty where the file tells no groups apart.
        texts: what is asked, with the options and, if wanted, the answer.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]


def read_prompts(file: Path, *, answers: bool = True) -> Prompts:
    """Read prompts, an object a line.

    Args:
        file: each line has `prompt_id` and `prompt`; `options` or `choices`, `answer` and a group where there are any.
        answers: whether the answer belongs to the text.

    Raises:
        UsageError: a line is no such object, or an id comes twice.
    """
    records = [_record(line, f"{file}:{number}") for number, line in _lines(file)]
    if not records:
        raise UsageError("holds no prompts", where=str(file))
    ids = tuple(str(record[_ID]) for record in records)
    refuse_repeated(ids, str(file))
    return Prompts(ids, _groups(records), tuple(_text(record, answers=answers) for record in records))


def find_scores(folder: Path) -> Path:
    """Find the file of scores in a suite's folder.

    Raises:
        UsageError: there is none, or several that could be meant.
    """
    for name in _SCORES:
        if (folder / name).is_file():
            return folder / name
    found = sorted(folder.glob("*.csv"))
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(file.name for file in found)
        raise UsageError(f"holds several score files: {named}", where=str(folder), mend=f"Name one: {found[0]}.")
    raise UsageError("holds no scores", where=str(folder), mend=f"It needs {_SCORES[0]} or a CSV file.")


def read_scores(file: Path, ids: Sequence[str], scale: float | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Read scores, a row a prompt and a column a model.

    Args:
        file: Parquet or CSV, with the column `prompt_id`; missing cells are allowed.
        ids: of the prompts; rows are put in their order.
        scale: score of a perfect answer; None: scores must lie in [0, 1].

    Returns:
        Models, and (n, models) scores in [0, 1], NaN where missing.

    Raises:
        UsageError: it is no such table, ids do not match, or scores lie outside their scale.
    """
    table = _table(file)
    names = _column_names(table, file)
    _require_distinct_columns(names, file)
    if _ID not in names:
        raise UsageError(
            f"has no column '{_ID}'", where=str(file), mend=f"Columns: {', '.join(table.column_names[:5])}."
        )
    own = [str(value) for value in table[_ID].to_pylist()]
    refuse_repeated(own, str(file))
    _require_same(ids, own, file)
    models = tuple(name for name in names if name != _ID)
    columns = [_column(table, name, file) for name in models]
    place = {identity: row for row, identity in enumerate(own)}
    rows = [place[identity] for identity in ids]
    scores = np.column_stack(columns)[rows] if columns else np.zeros((len(ids), 0))
    return models, scaled(scores, scale, str(file))


def scaled(scores: NDArray[np.float64], scale: float | None, where: str) -> NDArray[np.float64]:
    """Divide scores by that of a perfect answer.

    Args:
        scores: NaN where missing.
        scale: score of a perfect answer; None: 1.
        where: they come from.

    Raises:
        UsageError: some lie outside [0, scale].
    """
    inside = scores / (1.0 if scale is None else scale)
    outside = ~np.isnan(inside) & ~((inside >= 0) & (inside <= 1))
    if outside.any():
        worst = f"{outside.sum():,} scores from {np.nanmin(scores):g} to {np.nanmax(scores):g} lie outside"
        mend = "Declare the score of a perfect answer, for example --scale 100." if scale is None else ""
        raise UsageError(f"{worst} [0, {1 if scale is None else scale:g}]", where=where, mend=mend)
    return np.asarray(inside, np.float64)


def examples(names: Iterable[str], most: int = 3) -> str:
    """The first few names of many, in order."""
    ordered = sorted(names)
    return ", ".join(ordered[:most]) + (", ..." if len(ordered) > most else "")


def refuse_repeated(ids: Sequence[str], where: str) -> None:
    """Refuse ids that come more than once.

    Raises:
        UsageError: says how many and which.
    """
    distinct, counts = np.unique(np.array(ids, dtype=np.str_), return_counts=True)
    twice = distinct[counts > 1]
    if twice.size:
        raise UsageError(f"{len(twice):,} prompt ids come more than once: {examples(map(str, twice))}", where=where)


def _lines(file: Path) -> list[tuple[int, bytes]]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from None
    return [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]


def _record(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"is not JSON ({error.msg})", where=where) from None
    if not isinstance(record, dict) or record.get(_ID) is None or record.get("prompt") is None:
        raise UsageError(f"is no object with '{_ID}' and 'prompt'", where=where)
    return record


def _groups(records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    for name in _GROUPS:
        values = tuple("" if record.get(name) is None else str(record[name]) for record in records)
        if len(set(values)) > 1:
            return values
    return ("",) * len(records)


def _text(record: Mapping[str, Any], *, answers: bool) -> str:
    parts = [record["prompt"], *(record.get("options") or record.get("choices") or ())]
    if answers and record.get("answer") is not None:
        parts.append(record["answer"])
    return "\n".join(part if isinstance(part, str) else orjson.dumps(part).decode() for part in parts).strip()


def _table(file: Path) -> pa.Table:
    try:
        # Ids are text: left to guess, `000` would become 0.
        return parquet.read_table(file) if file.suffix == ".parquet" else csv.read_csv(file, convert_options=_TEXT_IDS)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"cannot be read ({str(error).splitlines()[0]})", where=str(file)) from None


def _column(table: pa.Table, name: str, file: Path) -> NDArray[np.float64]:
    try:
        values = table[name].cast(pa.float64())
    except pa.ArrowException:
        raise UsageError(f"scores of model '{name}' are not numbers", where=str(file)) from None
    return np.asarray(values.to_numpy(), np.float64)


def _column_names(table: pa.Table, file: Path) -> list[str]:
    try:
        return list(table.column_names)
    except UnicodeDecodeError:
        raise UsageError("has column names that are not UTF-8", where=str(file), mend="Save it as UTF-8.") from None


def _require_distinct_columns(names: Sequence[str], file: Path) -> None:
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        what = f"{len(twice):,} column names ({examples(twice)}) come more than once"
        raise UsageError(what, where=str(file), mend="Give each model a name of its own.")


def _require_same(prompts: Sequence[str], scored: Sequence[str], file: Path) -> None:
    unscored, unknown = set(prompts) - set(scored), set(scored) - set(prompts)
    parts = [
        f"{len(ids):,} of {total:,} {what} ({examples(ids)})"
        for ids, total, what in (
            (unscored, len(prompts), f"prompts of {PROMPTS} have no row"),
            (unknown, len(scored), f"rows name no prompt of {PROMPTS}"),
        )
        if ids
    ]
    if parts:
        raise UsageError("; ".join(parts), where=str(file), mend="The prompt ids of both files must be the same.")
