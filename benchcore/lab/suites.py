"""Suites: prompts with the scores of many models on them, read from folders, joined or halved."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.lab.suite_files import PROMPTS, examples, find_scores, read_prompts, read_scores
from benchcore.registry.identity import digest

log = logging.getLogger(__name__)

VECTORS = "vectors.npy"
_HALVES = ("odd", "even")


@dataclass(frozen=True, eq=False)
class Suite:
    """Benchmarks on which models were scored.

    Attributes:
        name: of its folders.
        ids: (n,) distinct.
        groups: (n,) benchmark of each prompt.
        texts: (n,) what an encoder sees.
        scores: (n, models) in [0, 1], NaN where missing.
        models: (models,) distinct.
        vectors: (n, d) the user's own, or None.
    """

    name: str
    ids: NDArray[np.str_]
    groups: NDArray[np.str_]
    texts: tuple[str, ...]
    scores: NDArray[np.float64]
    models: tuple[str, ...]
    vectors: NDArray[np.float32] | None = None

    @property
    def benchmarks(self) -> NDArray[np.str_]:
        """Names of the groups, in alphabetical order."""
        return np.unique(self.groups)

    @cached_property
    def identity(self) -> str:
        """Hash of all that it holds but the vectors."""
        cells = digest("scores", np.nan_to_num(self.scores, nan=-1.0).tobytes().hex())
        return digest("suite", self.ids.tolist(), self.groups.tolist(), list(self.texts), cells, list(self.models))


def load_suite(spec: str, *, scale: float | None = None, answers: bool = True) -> Suite:
    """Load a suite.

    Args:
        spec: `DIR`, or several joined by `+` on their common models; `DIR:odd` and `DIR:even` are halves of one by its
            benchmarks in alphabetical order (odd: the first, third, ...). A score file can stand for its folder. Or the
            root of a registry that holds scores.
        scale: score of a perfect answer; None: scores lie in [0, 1].
        answers: whether answers belong to the texts.

    Raises:
        UsageError: a folder does not hold a suite, or the parts have no model in common.
    """
    if (Path(spec).expanduser() / "scores" / "_delta_log").is_dir():
        from benchcore.lab.registry_suite import registry_suite

        return _without_empty(registry_suite(spec, answers=answers))
    parts = [_part(name, scale, answers=answers) for name in _split(spec)]
    return _without_empty(_joined(parts) if len(parts) > 1 else parts[0])


def _split(spec: str) -> list[str]:
    return [spec] if Path(spec).exists() else [part for part in spec.split("+") if part]


def _part(spec: str, scale: float | None, *, answers: bool) -> Suite:
    path, _, half = spec.rpartition(":")
    if half not in _HALVES or Path(spec).exists():
        path, half = spec, ""
    suite = _folder(Path(path).expanduser(), scale, answers=answers)
    return _half(suite, half) if half else suite


def _folder(path: Path, scale: float | None, *, answers: bool) -> Suite:
    if not path.exists():
        raise UsageError("there is no such folder", where=str(path))
    folder = path.parent if path.is_file() else path
    prompts = read_prompts(folder / PROMPTS, answers=answers)
    models, scores = read_scores(path if path.is_file() else find_scores(folder), prompts.ids, scale)
    name = folder.resolve().name
    return Suite(
        name=name,
        ids=np.array(prompts.ids, dtype=np.str_),
        groups=np.array([group or name for group in prompts.groups], dtype=np.str_),
        texts=prompts.texts,
        scores=scores,
        models=models,
        vectors=_vectors(folder / VECTORS, len(prompts.ids)),
    )


def _vectors(file: Path, rows: int) -> NDArray[np.float32] | None:
    if not file.is_file():
        return None
    try:
        vectors = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read ({error})", where=str(file)) from None
    if vectors.ndim != 2 or len(vectors) != rows:
        raise UsageError(f"has shape {vectors.shape}, but there are {rows:,} prompts", where=str(file))
    return np.asarray(vectors, np.float32)


def _half(suite: Suite, half: str) -> Suite:
    benchmarks = suite.benchmarks
    if len(benchmarks) < 2:
        raise UsageError(f"{suite.name} has one benchmark only: it has no halves", where=f"{suite.name}:{half}")
    rows = np.flatnonzero(np.isin(suite.groups, benchmarks[_HALVES.index(half) :: 2]))
    return replace(
        suite,
        name=f"{suite.name}:{half}",
        ids=suite.ids[rows],
        groups=suite.groups[rows],
        texts=tuple(suite.texts[row] for row in rows),
        scores=suite.scores[rows],
        vectors=None if suite.vectors is None else suite.vectors[rows],
    )


def _joined(parts: Sequence[Suite]) -> Suite:
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise UsageError(f"a folder's name comes twice: {'+'.join(names)}", mend="Rename one.")
    common = sorted(set.intersection(*(set(part.models) for part in parts)))
    if not common:
        told = "; ".join(f"{part.name} has {len(part.models)} ({examples(part.models)})" for part in parts)
        raise UsageError(f"no model is common to {'+'.join(names)}: {told}")
    columns = [[part.models.index(model) for model in common] for part in parts]
    vectors = [part.vectors for part in parts if part.vectors is not None]
    fit = len(vectors) == len(parts) and len({rows.shape[1] for rows in vectors}) == 1
    return Suite(
        name="+".join(names),
        ids=np.concatenate([_prefixed(part.name, part.ids) for part in parts]),
        groups=np.concatenate([_benchmarks_of(part) for part in parts]),
        texts=tuple(text for part in parts for text in part.texts),
        scores=np.concatenate([part.scores[:, own] for part, own in zip(parts, columns, strict=True)]),
        models=tuple(common),
        vectors=np.concatenate(vectors) if fit else None,
    )


def _prefixed(name: str, values: NDArray[np.str_]) -> NDArray[np.str_]:
    return np.array([f"{name}/{value}" for value in values], dtype=np.str_)


def _benchmarks_of(part: Suite) -> NDArray[np.str_]:
    """A folder is a benchmark, or its groups are, named after it."""
    if len(part.benchmarks) > 1:
        return _prefixed(part.name, part.groups)
    return np.full(len(part.groups), part.name, dtype=f"<U{len(part.name)}")


def _without_empty(suite: Suite) -> Suite:
    """Drop models without a score in some benchmark, and say what is unusual about the rest."""
    scored = ~np.isnan(suite.scores)
    by_group = np.array([scored[suite.groups == group].any(axis=0) for group in suite.benchmarks])
    keep: NDArray[np.bool_] = np.asarray(by_group.all(axis=0))
    some = np.asarray(scored.any(axis=0))
    _say(suite.name, suite.models, ~some, "have no score at all and are left out")
    _say(suite.name, suite.models, some & ~keep, "have no score in some benchmark and are left out")
    if not keep.any():
        raise UsageError("no model has a score in every benchmark", where=suite.name)
    kept = replace(
        suite,
        scores=suite.scores[:, keep],
        models=tuple(model for model, kept in zip(suite.models, keep, strict=True) if kept),
    )
    constant = np.nanmin(kept.scores, axis=0) == np.nanmax(kept.scores, axis=0)
    _say(suite.name, kept.models, constant, "score the same on every prompt; they are kept")
    names, sizes = np.unique(suite.groups, return_counts=True)
    _say(suite.name, names, sizes == 1, "are benchmarks of one prompt; it is in every sub-pool")
    if (copies := len(suite.texts) - len(set(suite.texts))) > 0:
        log.info("%s: %d prompts repeat the text of another; each counts for itself", suite.name, copies)
    return kept


def _say(where: str, names: Sequence[str] | NDArray[np.str_], concerned: NDArray[np.bool_], what: str) -> None:
    found = [str(name) for name, hit in zip(names, concerned, strict=True) if hit]
    if found:
        log.warning("%s: %d of %d %s: %s", where, len(found), len(names), what, examples(found))
