"""Scores of new models on picked tasks, in the units of the matrix that the tasks were picked from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale, Scores, named
from benchcore.leaderboard.reading.cells import plain, read_cells
from benchcore.leaderboard.reading.columns import Column, listed, read_columns
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.documents import load
from benchcore.leaderboard.reading.names import MODEL_COLUMNS, TASK_COLUMNS
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.leaderboard.reading.read import read_folder
from benchcore.leaderboard.reading.wide import scores_of


def read_new_scores(
    source: str, tasks: Sequence[str], scales: Sequence[Scale], declared: Declared | None = None
) -> tuple[tuple[str, ...], Scores, tuple[str, ...]]:
    """Read scores of one or more new models.

    Args:
        source: a table with a row a model and a column a task; a table with the columns `task` and `score` of one
            model; JSON `{task: score}`; or a folder of result files as for matrices.
        tasks: of the matrix.
        scales: of each task; the new scores are on the same.
        declared: how to read the table.

    Returns:
        Models; (models, tasks) scores in [0, 1], NaN where there is none; and what was noticed.

    Raises:
        UsageError: it cannot be read, holds none of the tasks, or scores lie outside of their scale.
    """
    raw = _raw(Path(source).expanduser(), declared or Declared(transpose=False))
    place = {task: at for at, task in enumerate(raw.tasks)}
    known = [at for at, task in enumerate(tasks) if task in place]
    if not known:
        raise UsageError(
            f"has none of the matrix's tasks (it has {named(raw.tasks)})",
            where=source,
            mend=f"Columns are named like the tasks: {named(tasks)}.",
        )
    scores = np.full((len(raw.models), len(tasks)), np.nan)
    for at in known:
        scores[:, at] = _on_scale(raw, place[tasks[at]], scales[at], source)
    unknown = [task for task in raw.tasks if task not in set(tasks)]
    notes = (f"tasks that the matrix lacks are not used: {named(unknown)}",) if unknown else ()
    return raw.models, scores, (*raw.notes, *notes)


def _raw(place: Path, declared: Declared) -> RawScores:
    if not place.exists():
        raise UsageError("does not exist", where=str(place))
    if place.is_dir():
        return read_folder(place, declared)
    if place.suffix == ".json":
        document = load(place)
        if isinstance(document, dict) and document and not any(isinstance(v, (dict, list)) for v in document.values()):
            return _one_model([str(task) for task in document], list(document.values()), place)
    columns = read_columns(place)
    single = _task_and_score(columns)
    if single is not None:
        return _one_model(*single, place)
    return scores_of(columns, declared, str(place))


def _task_and_score(columns: Sequence[Column]) -> tuple[list[str], list[object]] | None:
    """The two columns of a table of one model's scores."""
    by_name = {name.lower(): cells for name, cells in columns}
    tasks = next((by_name[name] for name in TASK_COLUMNS if name in by_name), None)
    if tasks is None or len(columns) != 2 or any(name in by_name for name in MODEL_COLUMNS):
        return None
    scores = next(cells for cells in by_name.values() if cells is not tasks)
    return [plain(str(task)) for task in listed(tasks)], listed(scores)


def _one_model(tasks: list[str], cells: list[object], place: Path) -> RawScores:
    twice = sorted({task for task in tasks if tasks.count(task) > 1})
    if twice:
        raise UsageError(f"names tasks more than once: {named(twice)}", where=str(place))
    read = read_cells(cells)
    if read.unreadable:
        row, text = read.unreadable[0]
        raise UsageError(f"task '{tasks[row]}': '{text[:40]}' is no score", where=str(place))
    return RawScores(str(place), (place.stem,), tuple(tasks), read.values[None, :], read.signed[None, :])


def _on_scale(raw: RawScores, column: int, scale: Scale, source: str) -> NDArray[np.float64]:
    values, signed = raw.values[:, column].copy(), raw.signed[:, column]
    if scale.high != 100:
        values[signed] = scale.low + values[signed] / 100 * (scale.high - scale.low)
    outside = ~np.isnan(values) & ((values < scale.low) | (values > scale.high))
    if outside.any():
        row = int(np.argmax(outside))
        raise UsageError(
            f"task '{raw.tasks[column]}', model '{raw.models[row]}': {values[row]:g} lies outside of the matrix's "
            f"scale ({scale.low:g} to {scale.high:g})",
            where=source,
            mend="Give scores in the units of the matrix.",
        )
    return scale.inward(values)
