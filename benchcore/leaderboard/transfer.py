"""In-context transfer between tasks, as BenTo measures it: how well one is done with examples of another."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError


def read_transfer(files: Sequence[Path], tasks: Sequence[str]) -> NDArray[np.float64]:
    """Read matrices of transfer and average them.

    Args:
        files: CSV with a header of tasks; a row for each of the same tasks, in this order: the source of the examples;
            a column for each task that is done with them.
        tasks: of the leaderboard, each of which must be there.

    Returns:
        (tasks, tasks): how well each task (row) is done with examples of each (column).

    Raises:
        UsageError: a file cannot be read or is no square of numbers, or a task is not in it.
    """
    return np.asarray(np.mean([_read(file, tasks) for file in files], axis=0), np.float64)


def _read(file: Path, tasks: Sequence[str]) -> NDArray[np.float64]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            header, *lines = csv.reader(stream)
        scores = np.array([[float(cell) for cell in line] for line in lines])
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", str(file)) from None
    except (ValueError, UnicodeDecodeError):
        raise UsageError("is no table of numbers under a header of tasks", str(file)) from None
    if scores.shape != (len(header), len(header)):
        raise UsageError(f"is no square: {scores.shape[0]} rows under {len(header)} tasks", str(file))
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise UsageError(f"row {row + 1}, column '{header[column]}': {scores[row, column]} is no score", str(file))
    place = {task: at for at, task in enumerate(header)}
    missing = [task for task in tasks if task not in place]
    if missing:
        raise UsageError(f"lacks {len(missing)} tasks, the first is '{missing[0]}'", str(file))
    rows = np.array([place[task] for task in tasks])
    return np.asarray(scores[np.ix_(rows, rows)].T, np.float64)
