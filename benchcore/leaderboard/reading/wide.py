"""Columns of a file as scores: which column names the models, which are tasks, what their cells say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import counted, named
from benchcore.leaderboard.reading.cells import Cells, plain, read_cells
from benchcore.leaderboard.reading.columns import Column, listed
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.names import (
    MODEL_COLUMNS,
    TASK_COLUMNS,
    is_average,
    is_beside,
    wrong_way_round,
)
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.methods.names import require_known

_LONG = ("model", "task", "score")


@dataclass
class _Read:
    """Columns with numbers, and what was left out or mended on the way."""

    names: list[str] = field(default_factory=list)
    values: list[NDArray[np.float64]] = field(default_factory=list)
    signed: list[NDArray[np.bool_]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    averages: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    marked_up: int = 0


def scores_of(columns: Sequence[Column], declared: Declared, where: str) -> RawScores:
    """Find models and tasks among columns and read the cells.

    Args:
        columns: of a file, in order.
        declared: by the user.
        where: for errors.

    Raises:
        UsageError: there is no column of names, a name comes twice, a cell is no score, or rows look like tasks.
    """
    marked = sum(plain(name) != name for name, _ in columns)
    columns = [(plain(name), cells) for name, cells in columns]
    lowered = [name.lower() for name, _ in columns]
    if all(name in lowered for name in _LONG):
        columns = _pivoted(columns, declared, where)
    _refuse_no_header(columns, where)
    columns = _without_row_numbers(columns)
    label, rows = _row_names(columns, declared, where)
    taken = [label, *([declared.family_column] if declared.family_column else [])]
    read = _numbers([column for column in columns if column[0] not in taken], declared, rows, where)
    read.marked_up += marked
    families = _texts(columns, declared.family_column, where) if declared.family_column else None
    values, signed = np.column_stack(read.values), np.column_stack(read.signed)
    if declared.transpose:
        if declared.family_column:
            raise UsageError("columns are models, so no column can hold their families", where="--family-column")
        rows, read.names, values, signed = read.names, rows, values.T, signed.T
    elif declared.transpose is None and wrong_way_round(rows, read.names, label):
        raise UsageError(
            f"lies the wrong way round: rows are named like tasks ({named(rows, 2)}) and columns like models "
            f"({named(read.names, 2)})",
            where=where,
            mend="Give --transpose, or --no-transpose if rows are models after all.",
        )
    _refuse_repeated_tasks(read.names, where)
    raw = RawScores(where, tuple(rows), tuple(read.names), values, signed, families, notes=_notes(read))
    return one_row_a_model(raw, declared)


def one_row_a_model(raw: RawScores, declared: Declared) -> RawScores:
    """Leave each model one row: equal rows are merged, and others as the user says.

    Raises:
        UsageError: a model comes twice with different scores, and nothing was said about it.
    """
    places: dict[str, list[int]] = {}
    for row, model in enumerate(raw.models):
        places.setdefault(model, []).append(row)
    repeated = {model: at for model, at in places.items() if len(at) > 1}
    if not repeated:
        return raw
    differing = [model for model, at in repeated.items() if any(_differ(raw, at[0], row) for row in at[1:])]
    if differing and declared.repeated == "refuse":
        raise UsageError(
            f"{counted(len(differing), 'model')} with different scores in several rows: {named(differing)}",
            where=raw.where,
            mend="Rename them, or give --repeated mean, first or last.",
        )
    values, signed = raw.values.copy(), raw.signed.copy()
    if declared.repeated == "mean" and differing:
        for model, at in repeated.items():
            _refuse_two_units(raw, model, at)
            values[at[0]], signed[at[0]] = _mean(values[at]), signed[at].any(axis=0)
    which = -1 if declared.repeated == "last" else 0
    kept = [at[which] for at in places.values()]
    what = "equal rows were merged" if not differing else f"of several rows the {declared.repeated} was taken"
    return RawScores(
        raw.where,
        tuple(places),
        raw.tasks,
        values[kept],
        signed[kept],
        None if raw.families is None else tuple(raw.families[row] for row in kept),
        raw.known,
        (*raw.notes, f"{counted(len(repeated), 'model')} repeated: {named(list(repeated))}; {what}"),
    )


def _differ(raw: RawScores, one: int, other: int) -> bool:
    same = np.array_equal(raw.values[one], raw.values[other], equal_nan=True)
    return not (same and np.array_equal(raw.signed[one], raw.signed[other]))


def _refuse_two_units(raw: RawScores, model: str, rows: Sequence[int]) -> None:
    """The mean of 97.3% and 0.953 has no unit."""
    signed = raw.signed[rows]
    mixed = signed.any(axis=0) & (~np.isnan(raw.values[rows]) & ~signed).any(axis=0)
    if mixed.any():
        raise UsageError(
            f"model '{model}' has scores on '{raw.tasks[int(np.argmax(mixed))]}' with a percent sign and without one, "
            "which have no mean",
            where=raw.where,
            mend="Write them alike, or give --repeated first or last.",
        )


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = (~np.isnan(rows)).sum(axis=0)
    total = np.nansum(rows, axis=0)
    return np.asarray(np.where(counts > 0, total / np.maximum(counts, 1), np.nan), np.float64)


def _without_row_numbers(columns: Sequence[Column]) -> list[Column]:
    """A first column without a name that counts the rows comes from a data frame's index."""
    name, cells = columns[0]
    if len(columns) > 2 and name.lower() in ("", "unnamed: 0", "index", "__index_level_0__"):
        texts = [str(cell) for cell in listed(cells)]
        if texts == [str(row) for row in range(len(texts))]:
            return list(columns[1:])
    return list(columns)


def _row_names(columns: Sequence[Column], declared: Declared, where: str) -> tuple[str, list[str]]:
    names = [name for name, _ in columns]
    if declared.model_column is not None:
        require_known(declared.model_column, names, "column", "--model-column")
        label = declared.model_column
    else:
        usual = TASK_COLUMNS if declared.transpose else MODEL_COLUMNS
        found = [name for wanted in usual for name in names if name.lower() == wanted]
        found = found or [name for name, cells in columns if _is_text(cells)]
        if not found:
            raise UsageError(
                f"has no column with the names of models (columns: {named(names)})",
                where=where,
                mend="Name it with --model-column.",
            )
        label = found[0]
    return label, list(_texts(columns, label, where))


def _texts(columns: Sequence[Column], wanted: str, where: str) -> tuple[str, ...]:
    cells = next((cells for name, cells in columns if name == wanted), None)
    if cells is None:
        require_known(wanted, [name for name, _ in columns], "column", where)
        raise AssertionError(wanted)
    texts = tuple(plain(str(cell)) if cell is not None else "" for cell in listed(cells))
    if "" in texts:
        raise UsageError(f"row {texts.index('') + 1} has nothing in column '{wanted}'", where=where)
    return texts


def _is_text(cells: Sequence[object] | pa.ChunkedArray) -> bool:
    """Whether most cells are words rather than scores."""
    if isinstance(cells, pa.ChunkedArray) and not _holds_text(cells.type):
        return False
    read = read_cells(listed(cells))
    return 2 * len(read.unreadable) > read.filled


def _holds_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))


def _numbers(columns: Sequence[Column], declared: Declared, rows: Sequence[str], where: str) -> _Read:
    """Read the columns that hold scores, and set the others aside."""
    names = [name for name, _ in columns]
    for option, wanted in (("--ignore", declared.ignore), ("--tasks", declared.tasks)):
        for name in wanted:
            require_known(name, rows if declared.transpose else names, "column", option)
    read = _Read()
    for name, cells in columns:
        if not declared.transpose and (name in declared.ignore or (declared.tasks and name not in declared.tasks)):
            continue
        if name not in declared.tasks and is_average(name):
            read.averages.append(name)
        elif name not in declared.tasks and is_beside(name):
            read.beside.append(name)
        else:
            _read_column(read, name, cells, rows, where)
    if not read.names:
        raise UsageError(f"has no column with scores{_example(columns, read)}", where=where)
    return read


def _example(columns: Sequence[Column], read: _Read) -> str:
    """A cell that is no number, of a column that could have been one of scores."""
    for name, cells in columns:
        if name in read.texts:
            text = next((plain(str(cell)) for cell in listed(cells) if cell is not None), "")
            return f": column '{name}' holds '{text[:40]}'"
    return ""


def _read_column(
    read: _Read, name: str, cells: Sequence[object] | pa.ChunkedArray, rows: Sequence[str], where: str
) -> None:
    found = _fast(cells) or read_cells(listed(cells))
    if found.unreadable and 2 * len(found.unreadable) > found.filled:
        read.texts.append(name)
        return
    if found.unreadable:
        row, text = found.unreadable[0]
        more = f", and {len(found.unreadable) - 1} more in this column" if len(found.unreadable) > 1 else ""
        raise UsageError(
            f"column '{name}', row '{rows[row]}': '{text[:40]}' is no score{more}",
            where=where,
            mend="Mend or empty the cell, or leave the column out with --ignore.",
        )
    if np.isinf(found.values).any():
        row = int(np.argmax(np.isinf(found.values)))
        raise UsageError(f"column '{name}', row '{rows[row]}': the score is infinite", where=where)
    read.names.append(name)
    read.values.append(found.values)
    read.signed.append(found.signed)
    read.words.update(found.words)
    read.marked_up += found.marked_up


def _fast(cells: Sequence[object] | pa.ChunkedArray) -> Cells | None:
    """A column of plain numbers, cast as a whole."""
    if not isinstance(cells, pa.ChunkedArray) or pa.types.is_boolean(cells.type):
        return None
    if not (_holds_text(cells.type) or pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type)):
        return None
    try:
        cast = cells.cast(pa.float64())
    except pa.ArrowException:
        return None
    values = np.array(cast.to_numpy(), np.float64)
    return Cells(values, np.zeros(len(values), np.bool_), int((~np.isnan(values)).sum()))


def _refuse_no_header(columns: Sequence[Column], where: str) -> None:
    """Refuse columns that are all named by scores: their first row is no header."""
    names = [name for name, _ in columns[1:]]
    numbers = read_cells(names).values
    whole = np.array_equal(numbers, np.round(numbers)) and len(set(numbers)) == len(numbers)  # tasks may be numbered
    if names and not np.isnan(numbers).any() and not whole:
        raise UsageError(
            f"the first row looks like scores ({named(names, 3)}), not like the names of tasks",
            where=where,
            mend="Add a row with names above it.",
        )


def _pivoted(columns: Sequence[Column], declared: Declared, where: str) -> list[Column]:
    """Rows of one score each (model, task, score) as a row a model; of several scores the one that the user says."""
    by_name = {name.lower(): listed(cells) for name, cells in columns}
    models = [plain(str(cell)) for cell in by_name["model"]]
    tasks = [plain(str(cell)) for cell in by_name["task"]]
    several: dict[tuple[str, str], list[object]] = {}
    for model, task, score in zip(models, tasks, by_name["score"], strict=True):
        several.setdefault((model, task), []).append(score)
    cells = {pair: _one_score(scores, *pair, declared, where) for pair, scores in several.items()}
    rows = list(dict.fromkeys(models))
    wide: list[Column] = [(task, [cells.get((model, task)) for model in rows]) for task in sorted(dict.fromkeys(tasks))]
    return [("model", list[object](rows)), *wide]


def _one_score(scores: Sequence[object], model: str, task: str, declared: Declared, where: str) -> object:
    if all(score == scores[0] for score in scores[1:]):
        return scores[0]
    if declared.repeated == "refuse":
        raise UsageError(
            f"model '{model}' has several scores on task '{task}'",
            where=where,
            mend="Give --repeated mean, first or last.",
        )
    if declared.repeated != "mean":
        return scores[-1 if declared.repeated == "last" else 0]
    read = read_cells(scores)
    held = ~np.isnan(read.values)
    if read.unreadable or (read.signed[held].any() and not read.signed[held].all()):
        raise UsageError(f"the scores of model '{model}' on task '{task}' have no mean", where=where)
    mean = float(read.values[held].mean()) if held.any() else None
    return f"{mean!r}%" if read.signed.any() else mean


def _refuse_repeated_tasks(tasks: Sequence[str], where: str) -> None:
    twice = [task for task, times in Counter(tasks).items() if times > 1]
    if twice:
        raise UsageError(
            f"{counted(len(twice), 'task')} named more than once: {named(twice)}",
            where=where,
            mend="Every task needs a name of its own.",
        )


def _notes(read: _Read) -> tuple[str, ...]:
    notes = []
    if read.texts:
        notes.append(f"columns without numbers are no tasks: {named(read.texts, 8)}")
    if read.beside:
        notes.append(f"columns of these names are no tasks: {named(read.beside, 8)} (--tasks says otherwise)")
    if read.averages:
        notes.append(f"averages are no tasks: {named(read.averages, 8)} (--tasks says otherwise)")
    if read.words:
        told = ", ".join(f"'{word}' {times:,}x" for word, times in read.words.most_common(6))
        notes.append(f"read as missing: {told}")
    if read.marked_up:
        notes.append(f"took the number out of {counted(read.marked_up, 'cell')} with HTML or other marks around it")
    return tuple(notes)
