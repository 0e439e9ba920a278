"""Leaderboards in the table `leaderboards` of a registry."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale, ScoreMatrix
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.methods.names import require_known
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import current_version, read, replace_where

TABLE = "leaderboards"
_LOWER, _HIGHER = "lower is better", "higher is better"


def read_stored(registry: Registry, leaderboard: str | None) -> tuple[str, RawScores]:
    """Read a leaderboard at the table's newest version.

    Args:
        registry: holds the table.
        leaderboard: its name; None: the only one.

    Returns:
        Its name, and its scores with the scales and directions that the table declares.

    Raises:
        UsageError: there is none of that name, or none was named of several.
    """
    where = registry.root
    version = current_version(registry, TABLE)
    names = sorted(set(read(registry, TABLE, version, ["leaderboard"])["leaderboard"].to_pylist()))
    if not names:
        raise UsageError(f"has no rows in its table '{TABLE}'", where=where)
    if leaderboard is None and len(names) > 1:
        raise UsageError(f"holds several leaderboards: {', '.join(names)}", where=where, mend="Give --leaderboard.")
    chosen = names[0] if leaderboard is None else leaderboard
    require_known(chosen, names, "leaderboard", "--leaderboard")
    rows = read(registry, TABLE, version, where=pc.field("leaderboard") == chosen).to_pylist()
    models = tuple(sorted({row["model"] for row in rows}))
    tasks = tuple(sorted({row["task"] for row in rows}))
    values = np.full((len(models), len(tasks)), np.nan)
    place, column = ({name: at for at, name in enumerate(every)} for every in (models, tasks))
    known: dict[str, Scale] = {}
    for row in rows:
        scale = _scale(row["scale"], row["direction"], f"{where}, {chosen}, task '{row['task']}'")
        if known.setdefault(row["task"], scale) != scale:
            raise UsageError(f"task '{row['task']}' has rows on different scales", where=f"{where}, {chosen}")
        if row["score"] is not None:
            values[place[row["model"]], column[row["task"]]] = row["score"]
    return chosen, RawScores(where, models, tasks, values, np.zeros(values.shape, np.bool_), None, known)


def store(registry: Registry, matrix: ScoreMatrix, source: str) -> bool:
    """Make a matrix the rows of its leaderboard, in its own units; the same matrix again changes nothing.

    Args:
        registry: where to.
        matrix: its name is the leaderboard's.
        source: where the scores come from.

    Returns:
        Whether the table changed.
    """
    scales = [matrix.scale_of(task) for task in range(len(matrix.tasks))]
    rows = [
        {
            "leaderboard": matrix.name,
            "model": model,
            "task": task,
            "score": float(scale.outward(matrix.scores[row, column])),
            "scale": f"{_exact(scale.low)}:{_exact(scale.high)}",
            "direction": _LOWER if scale.lower_is_better else _HIGHER,
            "source": source,
        }
        for row, model in enumerate(matrix.models)
        for column, (task, scale) in enumerate(zip(matrix.tasks, scales, strict=True))
        if not np.isnan(matrix.scores[row, column])
    ]
    with writer_lock(registry, "leaderboard store") as held:
        return replace_where(held, TABLE, "leaderboard", matrix.name, pa.Table.from_pylist(rows, SCHEMAS[TABLE]))


def _exact(bound: float) -> str:
    """A number with all its digits, and no more."""
    return repr(float(bound)).removesuffix(".0")


def _scale(bounds: str | None, direction: str | None, where: str) -> Scale:
    low, _, high = (bounds or "0:1").partition(":")
    try:
        return Scale(float(low), float(high), direction == _LOWER)
    except ValueError:
        raise UsageError(f"scale '{bounds}' is not LOW:HIGH", where=where) from None
