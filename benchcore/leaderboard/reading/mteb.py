"""MTEB's result files: a folder a model, in it one a revision, in it a JSON file a task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale, counted, named
from benchcore.leaderboard.reading.cells import plain
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.documents import load
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.methods.names import require_known

_ABOUT_THE_MODEL = "model_meta.json"
_SPLITS = ("test", "validation", "dev")


@dataclass(frozen=True)
class _Result:
    model: str
    revision: str
    task: str
    version: tuple[int, ...]
    split: str
    score: float
    subsets: int


def is_mteb(document: Any) -> bool:
    """Whether a document is a result file of MTEB."""
    return isinstance(document, dict) and isinstance(document.get("scores"), dict) and "task_name" in document


def read_mteb(folder: Path, files: Sequence[Path], declared: Declared) -> RawScores:
    """Read result files.

    A task's score is the mean of `main_score` over the subsets of a split: `test` (or one whose name starts so), else
    `validation` or `dev`, else the only one. Of several revisions of a model, each task takes the one with the newest
    MTEB version.

    Args:
        folder: holds `<model>/<revision>/<task>.json`.
        files: JSON files below it.
        declared: its `split` and `revisions` win.

    Raises:
        UsageError: no file holds a score, or a declared revision is not there.
    """
    strange: list[str] = []
    results: list[_Result] = []
    for file in files:
        if file.name == _ABOUT_THE_MODEL:
            continue
        document = load(file)
        found = _result(file.relative_to(folder), document, declared.split) if is_mteb(document) else None
        if found is None:
            strange.append(str(file.relative_to(folder)))
        else:
            results.append(found)
    if not results:
        raise UsageError("holds no MTEB result file with a score", where=str(folder))
    _require_revisions(results, declared)
    chosen, notes = _one_revision(results, declared)
    if strange:
        notes.append(f"{counted(len(strange), 'file')} without a score that was asked for: {named(strange)}")
    models = tuple(sorted({result.model for result in chosen}))
    tasks = tuple(sorted({result.task for result in chosen}))
    values = np.full((len(models), len(tasks)), np.nan)
    row, column = ({name: at for at, name in enumerate(names)} for names in (models, tasks))
    for result in chosen:
        values[row[result.model], column[result.task]] = result.score
    notes.append(_told(chosen))
    known = _scales(values, tasks, notes)
    signed = np.zeros(values.shape, np.bool_)
    return RawScores(str(folder), models, tasks, values, signed, known=known, notes=tuple(notes))


def _result(place: Path, document: Any, split: str | None) -> _Result | None:
    """One file's score; None where it has none of the split that was asked for."""
    chosen = split if split is not None else _usual(document["scores"])
    scores = [entry.get("main_score") for entry in document["scores"].get(chosen) or ()]
    held = [float(score) for score in scores if isinstance(score, (int, float)) and not np.isnan(score)]
    if not held or len(place.parts) < 2:
        return None
    model, revision = place.parts[-3:-1] if len(place.parts) > 2 else (place.parts[-2], "")
    version = tuple(int(part) for part in re.findall(r"\d+", str(document.get("mteb_version") or "")))
    mean = float(np.mean(held))
    return _Result(model, revision, plain(str(document["task_name"])), version, str(chosen), mean, len(held))


def _scales(values: NDArray[np.float64], tasks: Sequence[str], notes: list[str]) -> dict[str, Scale]:
    """Scores go to 1: where many lie below 0 they go from -1, else the few that do are set to 0, in place."""
    held = ~np.isnan(values)
    below = (values < 0) & held
    often = 10 * below.sum(axis=0) > held.sum(axis=0)
    both = [task for task, many in zip(tasks, often.tolist(), strict=True) if many]
    if both:
        notes.append(f"read as lying between -1 and 1, since more than a tenth lie below 0: {named(both)}")
    few = below & ~often
    if few.any():
        notes.append(f"set {counted(int(few.sum()), 'score')} below 0 (lowest {values[few].min():.3g}) to 0")
        values[few] = 0.0
    return {task: Scale(-1.0 if task in both else 0.0, 1.0) for task in tasks}


def _usual(splits: dict[str, Any]) -> str | None:
    """The split that counts where none was asked for."""
    tests = sorted(name for name in splits if name.startswith("test") and splits[name])
    usual = [*(name for name in _SPLITS if splits.get(name)), *tests]
    usual.sort(key=lambda name: not name.startswith("test"))
    return usual[0] if usual else (next(iter(splits)) if len(splits) == 1 else None)


def _require_revisions(results: Sequence[_Result], declared: Declared) -> None:
    for model, revision in declared.revisions.items():
        require_known(model, sorted({result.model for result in results}), "model", "--revision")
        own = sorted({result.revision for result in results if result.model == model})
        require_known(revision, own, f"revision of {model}", "--revision")


def _one_revision(results: Sequence[_Result], declared: Declared) -> tuple[list[_Result], list[str]]:
    """One result for each model and task."""
    sizes = Counter((result.model, result.revision) for result in results)
    wanted = [result for result in results if declared.revisions.get(result.model, result.revision) == result.revision]
    newest: dict[tuple[str, str], _Result] = {}
    for result in sorted(wanted, key=lambda r: (r.version, sizes[r.model, r.revision], r.revision)):
        newest[result.model, result.task] = result
    chosen = list(newest.values())
    mixed = {model for model, _ in sizes if len({r.revision for r in chosen if r.model == model}) > 1}
    several = {model for model, _ in sizes if sum(own == model for own, _ in sizes) > 1} - set(declared.revisions)
    notes = []
    if several:
        joined = f"; {counted(len(mixed), 'model')} with tasks of more than one" if mixed else ""
        notes.append(
            f"{counted(len(several), 'model')} with several revisions ({named(sorted(several))}): each task takes the "
            f"one with the newest MTEB version{joined} (--revision MODEL=REVISION says otherwise)"
        )
    return chosen, notes


def _told(chosen: Sequence[_Result]) -> str:
    splits = Counter(result.split for result in chosen)
    other = {split: times for split, times in splits.items() if split != "test"}
    several = sum(result.subsets > 1 for result in chosen)
    told = f"read main_score of {counted(len(chosen), 'MTEB result')}"
    if several:
        told += f", the mean over subsets in {several:,}"
    if other:
        told += f"; without a split 'test': {', '.join(f'{split} {times:,}x' for split, times in other.items())}"
    return told
