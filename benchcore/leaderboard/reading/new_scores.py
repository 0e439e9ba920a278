"""Scores of new models on picked tasks, in the units of the matrix that the tasks were picked from."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale, Scores, named
from benchcore.leaderboard.reading.cells import plain, read_cells
from benchcore.leaderboard.reading.columns import Column, listed, read_columns
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.documents import parsed
from benchcore.leaderboard.reading.names import MODEL_COLUMNS, TASK_COLUMNS
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.leaderboard.reading.read import read_folder
from benchcore.leaderboard.reading.scales import ROUNDING, mend_negative, put_signed
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
            f"has none of the matrix's tasks (it has {named([_with_nearest(task, tasks) for task in raw.tasks])})",
            where=source,
            mend=f"Columns are named like the tasks: {named(tasks)}.",
        )
    own = [place[tasks[at]] for at in known]
    theirs = [scales[at] for at in known]
    _refuse_shares(raw, own, theirs, source)
    values = np.column_stack([_in_units(raw, at, scale, source) for at, scale in zip(own, theirs, strict=True)])
    near = [
        at for at, scale in enumerate(theirs) if scale.low == 0 and np.nanmin(values[:, at], initial=0.0) >= -scale.high
    ]
    mended = mend_negative(values, near, [tasks[at] for at in known])
    scores = np.full((len(raw.models), len(tasks)), np.nan)
    for at, column, scale in zip(known, values.T, theirs, strict=True):
        _refuse_outside(column, raw.models, tasks[at], scale, source)
        scores[:, at] = np.clip(scale.inward(column), 0.0, 1.0)
    notes = [*raw.notes, *mended, *_below_one(raw, own, theirs)]
    if unknown := [task for task in raw.tasks if task not in set(tasks)]:
        notes.append(
            f"tasks that the matrix lacks are not used: {named([_with_nearest(task, tasks) for task in unknown])}"
        )
    return raw.models, scores, tuple(notes)


def _with_nearest(task: str, tasks: Sequence[str]) -> str:
    """A name that is not known, with the one that may be meant."""
    inside = [known for known in tasks if known and known in task]
    near = (inside and [max(inside, key=len)]) or difflib.get_close_matches(task, tasks, 1)
    return f"{task} (did you mean '{near[0]}'?)" if near else task


def _below_one(raw: RawScores, columns: Sequence[int], scales: Sequence[Scale]) -> list[str]:
    """A sentence about scores that may be shares among percents."""
    found = []
    for at, scale in zip(columns, scales, strict=True):
        values = raw.values[~raw.signed[:, at], at]
        small = values[(values > 0) & (values < 1)]
        if scale.high == 100 and raw.tasks[at] not in raw.known and small.size:
            found.append(f"{raw.tasks[at]} ({small[0]:g})")
    return [f"scores below 1 are read as percent, like all others: {named(found)}"] if found else []


def _raw(place: Path, declared: Declared) -> RawScores:
    if not place.exists():
        raise UsageError("does not exist", where=str(place))
    if place.is_dir():
        return read_folder(place, declared)
    if place.suffix == ".json":
        document = _document(place)
        if isinstance(document, dict) and document and not any(isinstance(v, (dict, list)) for v in document.values()):
            return _one_model([plain(task) for task in document], list(document.values()), place)
    columns = read_columns(place)
    single = _task_and_score(columns)
    if single is not None:
        return _one_model(*single, place)
    return scores_of(columns, declared, str(place))


def _document(place: Path) -> object:
    try:
        return parsed(place.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError("is not in UTF-8", where=str(place), mend="Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read ({error})", where=str(place)) from None


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


def _refuse_shares(raw: RawScores, columns: Sequence[int], scales: Sequence[Scale], source: str) -> None:
    """Refuse a model whose scores all look like shares where the matrix has percent: .71 is hardly .71 %."""
    percent = [
        at for at, scale in zip(columns, scales, strict=True) if scale.high == 100 and raw.tasks[at] not in raw.known
    ]
    for model, row, signed in zip(raw.models, raw.values[:, percent], raw.signed[:, percent], strict=True):
        held = row[~np.isnan(row)]
        if held.size and not signed.any() and held.any() and held.max() <= 1:
            raise UsageError(
                f"all scores of model '{model}' lie between 0 and 1, and those of the matrix between 0 and 100",
                where=source,
                mend="Give percent; a score that is below one percent needs a percent sign, for example 0.71%.",
            )


def _in_units(raw: RawScores, column: int, scale: Scale, source: str) -> NDArray[np.float64]:
    """A column in the units of the matrix: percent and shares are converted where the source says which it has."""
    values, task = raw.values[:, column].copy(), raw.tasks[column]
    told = raw.known.get(task)
    if told is not None and told.high != scale.high:
        if {told.high, scale.high} != {1.0, 100.0}:
            raise UsageError(
                f"task '{task}' is declared to lie in {told.low:g}-{told.high:g} there, and in "
                f"{scale.low:g}-{scale.high:g} in the matrix",
                where=source,
                mend="Give scores in the units of the matrix.",
            )
        values *= scale.high / told.high
    if told is not None and told.lower_is_better and not scale.lower_is_better:
        raise UsageError(f"lower is better for task '{task}' there, and higher in the matrix", where=source)
    put_signed(values, raw.signed[:, column], scale)
    return values


def _refuse_outside(values: NDArray[np.float64], models: Sequence[str], task: str, scale: Scale, source: str) -> None:
    slack = ROUNDING * (scale.high - scale.low)
    outside = ~np.isnan(values) & ((values < scale.low - slack) | (values > scale.high + slack))
    if outside.any():
        row = int(np.argmax(outside))
        raise UsageError(
            f"task '{task}', model '{models[row]}': {values[row]:g} lies outside of the matrix's "
            f"scale ({scale.low:g} to {scale.high:g})",
            where=source,
            mend="Give scores in the units of the matrix.",
        )
