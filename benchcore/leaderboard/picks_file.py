"""A choice of tasks as a file: what predicts every other task, and what the matrix had seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

import benchcore
from benchcore.errors import UsageError
from benchcore.leaderboard.default import Choice, Widths
from benchcore.leaderboard.judging import LEVEL
from benchcore.leaderboard.matrix import Scale, ScoreMatrix
from benchcore.leaderboard.predictor import Predictor, predictor_from
from benchcore.leaderboard.seen import Seen, seen_from, seen_on
from benchcore.whole_file import write_file

_KIND, _VERSION = "benchcore leaderboard picks", 1


@dataclass(frozen=True, eq=False)
class PicksFile:
    """What a file of picks says.

    Attributes:
        leaderboard: name of the matrix.
        tasks: of the matrix.
        scales: of each task.
        predictor: from scores on the picks to all.
        within, beyond: half widths of intervals, for models like those seen and for stronger ones.
        seen: where the models of the matrix lie.
    """

    leaderboard: str
    tasks: tuple[str, ...]
    scales: tuple[Scale, ...]
    predictor: Predictor
    within: Widths
    beyond: Widths
    seen: Seen

    @property
    def picks(self) -> tuple[str, ...]:
        """Names of the picked tasks."""
        return tuple(self.tasks[pick] for pick in self.predictor.picks)


def document_of(choice: Choice, matrix: ScoreMatrix, source: str) -> dict[str, Any]:
    """A choice as JSON can hold it.

    Args:
        choice: what was chosen.
        matrix: from which.
        source: where the matrix came from, as the user named it.
    """
    from benchcore.estimation.task_source import TaskSource

    scales = [matrix.scale_of(task) for task in range(len(matrix.tasks))]
    document = {
        "kind": _KIND,
        "version": _VERSION,
        "benchcore": benchcore.__version__,
        "matrix": {
            "name": matrix.name,
            "source": source,
            "models": len(matrix.models),
            "tasks": len(matrix.tasks),
            "repairs": list(matrix.repairs),
        },
        "method": choice.method,
        "estimator": choice.estimator,
        "picks": list(choice.tasks),
        "costs": None if matrix.costs is None else [float(matrix.costs[pick]) for pick in choice.picks],
        "cost_unit": matrix.cost_unit,
        "tasks": list(matrix.tasks),
        "scales": [[scale.low, scale.high, scale.lower_is_better] for scale in scales],
        "predictor": choice.predictor.as_document(),
        "interval": {
            "level": LEVEL,
            "within": {"tasks": choice.within.tasks.tolist(), "mean": choice.within.mean},
            "beyond": {"tasks": choice.beyond.tasks.tolist(), "mean": choice.beyond.mean},
        },
        "seen": seen_on(TaskSource(matrix.scores).complete, choice.picks).as_document(),
    }
    return {**document, "checksum": _checksum(document)}


def _checksum(document: dict[str, Any]) -> str:
    """Of all that a document says, however it is laid out."""
    content = {name: value for name, value in document.items() if name != "checksum"}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_picks(file: Path) -> PicksFile:
    """Read what `leaderboard select --out` wrote.

    Raises:
        UsageError: it is no such file.
    """
    try:
        document = orjson.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from None
    except orjson.JSONDecodeError as error:
        raise UsageError(f"is not JSON ({error.msg})", where=str(file)) from None
    mend = "Write one with `benchcore leaderboard select MATRIX -k 8 --out DIR`."
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise UsageError("is no file of picks", where=str(file), mend=mend)
    if document.get("version") != _VERSION:
        told = f"is of version {document.get('version')}, and this benchcore reads {_VERSION}"
        raise UsageError(told, where=str(file), mend=mend)
    if document.get("checksum") != _checksum(document):
        raise UsageError("was changed after it was written", where=str(file), mend=mend)
    try:
        return _picks(document)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"is damaged ({error})", where=str(file), mend=mend) from None


def _picks(document: dict[str, Any]) -> PicksFile:
    tasks = tuple(str(task) for task in document["tasks"])
    place = {task: at for at, task in enumerate(tasks)}
    picks = [place[task] for task in document["picks"]]
    scales = tuple(Scale(float(low), float(high), bool(lower)) for low, high, lower in document["scales"])
    if len(place) < len(tasks) or len(set(picks)) < len(picks) or not picks:
        raise ValueError("it has no picks, or names a task twice")
    if len(scales) != len(tasks) or not all(scale.low < scale.high for scale in scales):
        raise ValueError(f"its scales are not those of {len(tasks)} tasks")
    within, beyond = (_widths(document["interval"][kind], len(tasks)) for kind in ("within", "beyond"))
    return PicksFile(
        leaderboard=str(document["matrix"]["name"]),
        tasks=tasks,
        scales=scales,
        predictor=predictor_from(document["predictor"], picks, len(tasks)),
        within=within,
        beyond=beyond,
        seen=seen_from(document["seen"], len(picks)),
    )


def _widths(document: dict[str, Any], tasks: int) -> Widths:
    found = Widths(np.asarray(document["tasks"], np.float64), float(document["mean"]))
    if found.tasks.shape != (tasks,) or not (found.tasks >= 0).all() or not found.mean >= 0:
        raise ValueError(f"its intervals are not those of {tasks} tasks")
    return found


def write_json(file: Path, document: Any) -> None:
    """Write a JSON document; what JSON lacks (NaN) becomes null.

    Raises:
        UsageError: it cannot be written.
    """
    write_file(file, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n")
