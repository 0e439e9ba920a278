"""A leaderboard from wherever it lies, as a matrix; what was mended on the way is told with it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchcore.errors import UsageError
from benchcore.leaderboard.families import family_of
from benchcore.leaderboard.matrix import ScoreMatrix, Scores, counted, named, without_empty
from benchcore.leaderboard.reading.beside import read_costs, read_groups
from benchcore.leaderboard.reading.columns import read_columns
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.documents import json_files, load
from benchcore.leaderboard.reading.every_eval_ever import is_every_eval_ever, read_every_eval_ever
from benchcore.leaderboard.reading.mteb import is_mteb, read_mteb
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.leaderboard.reading.scales import on_one_scale
from benchcore.leaderboard.reading.wide import scores_of
from benchcore.methods.names import require_known

log = logging.getLogger(__name__)

DATASET = "dataset:"
_LEAST_MODELS, _LEAST_TASKS = 4, 2
_ROUNDED = 6e-4  # half of the last digit of a percentage with one
_AVERAGED = 4  # tasks, the mean of the others among them
_PEEKED = 50  # files that are looked at to tell what a folder holds


def read_matrix(source: str, declared: Declared | None = None, *, usable: bool = True) -> ScoreMatrix:
    """Read a leaderboard.

    Args:
        source: a file (.csv, .tsv, .parquet, .json, .jsonl) with a row a model; a folder of MTEB result files or of
            aggregates of Every Eval Ever; a registry's root (a folder or an address) with a table `leaderboards`; or
            `dataset:NAME`, one that ships with the package.
        declared: what the user says about it.
        usable: whether to leave out tasks and models that say nothing, and to refuse what is too small to choose from.

    Returns:
        The matrix; its `repairs` tell what was mended and what to mind.

    Raises:
        UsageError: it cannot be read, or cannot be understood without guessing.
    """
    declared = declared or Declared()
    if source.startswith(DATASET):
        matrix = _shipped(source.removeprefix(DATASET), declared)
    else:
        name, raw = _raw(source, declared)
        matrix = _matrix(declared.name or name, raw, declared)
    if usable:
        _require_models(matrix, source)
        matrix = _without_loners(_without_average(without_empty(matrix), declared))
        _require_enough(matrix, source)
        matrix = _warned(matrix)
    return _with_files_beside(matrix, declared)


def tell(matrix: ScoreMatrix) -> None:
    """Log what was mended while reading, and what to mind."""
    for repair in matrix.repairs:
        log.warning("%s: %s", matrix.name, repair)


def _shipped(name: str, declared: Declared) -> ScoreMatrix:
    from benchcore.datasets import load_leaderboard

    found = load_leaderboard(name)
    unsigned = np.zeros(found.scores.shape, np.bool_)
    raw = RawScores(f"{DATASET}{name}", found.models, found.tasks, found.scores, unsigned)
    return _matrix(declared.name or name, _chosen(raw, declared), declared)


def _raw(source: str, declared: Declared) -> tuple[str, RawScores]:
    from benchcore.registry.root import Registry, is_uri

    place = Path(source).expanduser()
    if is_uri(source) or (place / "leaderboards" / "_delta_log").is_dir():
        from benchcore.leaderboard.reading.stored import read_stored

        name, raw = read_stored(Registry.at(source), declared.leaderboard)
        return name, _chosen(raw, declared)
    if place.is_dir():
        return place.resolve().name, _chosen(read_folder(place, declared), declared)
    if not place.exists():
        raise UsageError("does not exist", where=source, mend=f"A file, a folder, a registry, or {DATASET}NAME.")
    return place.stem, scores_of(read_columns(place), declared, source)


def read_folder(folder: Path, declared: Declared) -> RawScores:
    """Read a folder of MTEB result files or of aggregates of Every Eval Ever.

    Raises:
        UsageError: it holds neither.
    """
    files = json_files(folder)
    for file in files[:_PEEKED]:
        document = load(file)
        if is_mteb(document):
            return read_mteb(folder, files, declared)
        if is_every_eval_ever(document):
            return read_every_eval_ever(folder, files, declared)
    what = f"none of its {len(files):,} JSON files is" if files else "it has no JSON files, so none is"
    raise UsageError(
        f"holds no leaderboard: {what} an MTEB result or an aggregate of Every Eval Ever, and it is no registry",
        where=str(folder),
        mend="Name a file, or the folder that holds the models' folders.",
    )


def read_aggregates(folder: Path, files: Sequence[Path], declared: Declared) -> ScoreMatrix:
    """Read some files of aggregates of Every Eval Ever below a folder, all of whose tasks and models are kept.

    Raises:
        UsageError: they cannot be understood without guessing.
    """
    name = declared.name or folder.resolve().name
    return _matrix(name, _chosen(read_every_eval_ever(folder, files, declared), declared), declared)


def _chosen(raw: RawScores, declared: Declared) -> RawScores:
    """The tasks that the user wants, of a source without columns."""
    for option, wanted in (("--ignore", declared.ignore), ("--tasks", declared.tasks)):
        for task in wanted:
            require_known(task, raw.tasks, "task", option)
    wanted_tasks = declared.tasks or raw.tasks
    kept = [at for at, task in enumerate(raw.tasks) if task in wanted_tasks and task not in declared.ignore]
    tasks = tuple(raw.tasks[at] for at in kept)
    known = {task: scale for task, scale in raw.known.items() if task in tasks}
    return replace(raw, tasks=tasks, values=raw.values[:, kept], signed=raw.signed[:, kept], known=known)


def _matrix(name: str, raw: RawScores, declared: Declared) -> ScoreMatrix:
    scores, scales, notes = on_one_scale(raw, declared)
    families = raw.families or tuple(family_of(model) for model in raw.models)
    return ScoreMatrix(name, raw.models, raw.tasks, scores, families, repairs=(*raw.notes, *notes), scales=scales)


def _without_average(matrix: ScoreMatrix, declared: Declared) -> ScoreMatrix:
    """Leave out a column that is the mean of the others, however it is named: it would predict their mean too well."""
    if len(matrix.tasks) < _AVERAGED:
        return matrix
    held = ~np.isnan(matrix.scores)
    others = held.sum(axis=1, keepdims=True) - held
    rest = (np.nansum(matrix.scores, axis=1, keepdims=True) - np.nan_to_num(matrix.scores)) / np.maximum(others, 1)
    compared = held & (others > 1)
    apart = np.where(compared, np.abs(matrix.scores - rest), 0.0).max(axis=0)
    alike = np.flatnonzero((apart < _ROUNDED) & (compared.sum(axis=0) > _LEAST_MODELS))
    found = [at for at in alike.tolist() if matrix.tasks[at] not in declared.tasks and not _has_twin(matrix.scores, at)]
    if not found:
        return matrix
    repair = f"left out {named([matrix.tasks[at] for at in found])}: the mean of the others (--tasks says otherwise)"
    kept = matrix.of_tasks(np.setdiff1d(np.arange(len(matrix.tasks)), found))
    return replace(kept, repairs=(*matrix.repairs, repair))


def _has_twin(scores: Scores, task: int) -> bool:
    """Whether another task has the same scores on all models that have both."""
    apart = np.abs(np.delete(scores, task, axis=1) - scores[:, [task]])
    return bool((np.where(np.isnan(apart), 0.0, apart).max(axis=0) < _ROUNDED).any())


def _without_loners(matrix: ScoreMatrix) -> ScoreMatrix:
    """Leave out models with a single score: they say nothing about how tasks go together."""
    counts = (~np.isnan(matrix.scores)).sum(axis=1)
    lone = [matrix.models[row] for row in np.flatnonzero(counts == 1)]
    if not lone or len(matrix.tasks) < _LEAST_TASKS:
        return matrix
    repair = f"left out {counted(len(lone), 'model')} with a single score: {named(lone)}"
    others = replace(matrix.of_models(np.flatnonzero(counts > 1)), repairs=(*matrix.repairs, repair))
    return _without_loners(without_empty(others))


def _require_models(matrix: ScoreMatrix, source: str) -> None:
    """Say so before tasks that only few models could tell apart are left out."""
    if len(matrix.models) < _LEAST_MODELS:
        raise _too_few(len(matrix.models), len(matrix.tasks), source, matrix.repairs)


def _require_enough(matrix: ScoreMatrix, source: str) -> None:
    if len(matrix.models) < _LEAST_MODELS or len(matrix.tasks) < _LEAST_TASKS:
        raise _too_few(len(matrix.models), len(matrix.tasks), source, matrix.repairs)


def _too_few(models: int, tasks: int, where: str, notes: tuple[str, ...]) -> UsageError:
    least = f"at least {_LEAST_MODELS} models with scores on at least {_LEAST_TASKS} tasks are needed"
    mended = f" (after this: {'; '.join(notes)})" if notes else ""
    return UsageError(
        f"{counted(models, 'model')} and {counted(tasks, 'task')} that can be used are too few; {least}{mended}",
        where=where,
    )


def _warned(matrix: ScoreMatrix) -> ScoreMatrix:
    if len(matrix.models) >= len(matrix.tasks):
        return matrix
    warning = (
        f"there are fewer models ({len(matrix.models):,}) than tasks ({len(matrix.tasks):,}): expect wide intervals; "
        "if rows are tasks, give --transpose"
    )
    return replace(matrix, repairs=(*matrix.repairs, warning))


def _with_files_beside(matrix: ScoreMatrix, declared: Declared) -> ScoreMatrix:
    if declared.costs is not None:
        costs, unit, notes = read_costs(declared.costs, matrix.tasks)
        matrix = replace(matrix, costs=costs, cost_unit=unit, repairs=(*matrix.repairs, *notes))
    if declared.groups is not None:
        matrix = replace(matrix, groups=read_groups(declared.groups, matrix.tasks))
    return matrix
