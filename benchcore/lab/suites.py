"""Suites: prompts with the scores of many models on them, from folders or shipped ones, joined or halved."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.lab.suite_files import PROMPTS, examples, find_scores, read_prompts, read_scores
from benchcore.registry.identity import digest

log = logging.getLogger(__name__)

VECTORS = "vectors.npy"
SHIPPED = "dataset:"
_HALVES = ("odd", "even")
# On fewer prompts two models can score the same by chance.
_LEAST_TELLING = 20


@dataclass(frozen=True, eq=False)
class Suite:
    """Benchmarks on which models were scored.

    Attributes:
        name: of its folders.
        ids: (n,) distinct.
        groups: (n,) benchmark of each prompt.
        texts: (n,) what an encoder sees; none where the suite brings its feature blocks.
        lengths: (n,) characters of each text.
        scores: (n, models) in [0, 1], NaN where missing.
        models: (models,) distinct.
        blocks: feature blocks that it brings, by name; the user's own vectors are `embedding`.
    """

    name: str
    ids: NDArray[np.str_]
    groups: NDArray[np.str_]
    texts: tuple[str, ...]
    lengths: NDArray[np.int64]
    scores: NDArray[np.float64]
    models: tuple[str, ...]
    blocks: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def benchmarks(self) -> NDArray[np.str_]:
        """Names of the groups, in alphabetical order."""
        return np.unique(self.groups)

    @cached_property
    def identity(self) -> str:
        """Hash of all that it holds but the feature blocks."""
        cells = digest("scores", np.nan_to_num(self.scores, nan=-1.0).tobytes().hex())
        texts = digest("texts", list(self.texts), self.lengths.tolist())
        return digest("suite", self.ids.tolist(), self.groups.tolist(), texts, cells, list(self.models))


def load_suite(spec: str, *, scale: float | None = None, answers: bool = True) -> Suite:
    """Load a suite.

    Args:
        spec: `DIR`, or several joined by `+` on their common models; `DIR:odd` and `DIR:even` are halves of one by its
            benchmarks in alphabetical order (odd: the first, third, ...). A score file can stand for its folder, and
            `dataset:NAME` for one that ships. Or the root of a registry that holds scores.
        scale: score of a perfect answer; None: scores lie in [0, 1]. Shipped scores do.
        answers: whether answers belong to the texts.

    Raises:
        UsageError: a folder does not hold a suite, the parts have no model in common, or the scale is not above 0.
    """
    if scale is not None and not (scale > 0 and math.isfinite(scale)):
        raise UsageError(
            f"is {scale:g}, but must be a number above 0", where="--scale", mend="For example --scale 100."
        )
    if (Path(spec).expanduser() / "scores" / "_delta_log").is_dir():
        from benchcore.lab.registry_suite import registry_suite

        return _telling(registry_suite(spec, scale, answers=answers))
    parts = [_part(name, scale, answers=answers) for name in _split(spec)]
    return _telling(_joined(parts) if len(parts) > 1 else parts[0])


def _split(spec: str) -> list[str]:
    if spec and Path(spec).exists():
        return [spec]
    parts = spec.split("+")
    if not all(part.strip() for part in parts):
        raise UsageError("names no folder at an end of a '+'", where=f"'{spec}'", mend="Write DIR, or DIR+DIR.")
    return parts


def _part(spec: str, scale: float | None, *, answers: bool) -> Suite:
    path, _, half = spec.rpartition(":")
    if half not in _HALVES or Path(spec).exists():
        path, half = spec, ""
    if path.startswith(SHIPPED) and not Path(path).exists():
        suite = _shipped(path.removeprefix(SHIPPED), answers=answers)
    else:
        suite = read_folder(Path(path).expanduser(), scale, answers=answers)
    return _half(suite, half) if half else suite


def _shipped(name: str, *, answers: bool) -> Suite:
    """A score set of the package: its feature blocks take the place of texts, which do not ship."""
    from benchcore.datasets import load_scores

    shipped = load_scores(name)
    if not answers:
        mend = "Name a folder with the prompts."
        raise UsageError("its features are of texts with their answers", where=f"{SHIPPED}{name}", mend=mend)
    return Suite(
        name=name,
        ids=shipped.ids,
        groups=shipped.groups,
        texts=(),
        lengths=shipped.lengths,
        scores=shipped.scores,
        models=shipped.models,
        blocks=shipped.features,
    )


def read_folder(path: Path, scale: float | None = None, *, answers: bool = True) -> Suite:
    """Read the suite of one folder with all models, those without scores too.

    Args:
        path: the folder, or its file of scores.
        scale: score of a perfect answer; None: scores lie in [0, 1].
        answers: whether answers belong to the texts.

    Raises:
        UsageError: it does not hold a suite.
    """
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
        lengths=lengths_of(prompts.texts),
        scores=scores,
        models=models,
        blocks=_own_vectors(folder / VECTORS, prompts.ids, answers=answers),
    )


def lengths_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """(n,) characters of each text."""
    return np.array([len(text) for text in texts], np.int64)


def _own_vectors(file: Path, ids: Sequence[str], *, answers: bool) -> dict[str, NDArray[np.float32]]:
    if not file.is_file():
        return {}
    try:
        vectors = np.load(file, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise UsageError(f"cannot be read ({error})", where=str(file)) from None
    if vectors.ndim != 2 or len(vectors) != len(ids):
        raise UsageError(f"has shape {vectors.shape}, but there are {len(ids):,} prompts", where=str(file))
    if vectors.dtype.kind not in "fiu":
        raise UsageError(f"holds no real numbers but {vectors.dtype}", where=str(file))
    with np.errstate(over="ignore"):  # what is too large is not finite any more, and told
        rows = np.asarray(vectors, np.float32)
    _refuse_rows(file, ids, np.asarray(~np.isfinite(rows).all(axis=1)), "that are not finite")
    _refuse_rows(file, ids, np.asarray(~rows.any(axis=1)), "of zeros alone")
    if not answers:
        log.warning("%s is taken as it is: if it was made with answers, they still show in it", file)
    return {"embedding": rows}


def _refuse_rows(file: Path, ids: Sequence[str], wrong: NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        named = examples(identity for identity, hit in zip(ids, wrong, strict=True) if hit)
        mend = "Embed these prompts again."
        raise UsageError(f"{wrong.sum():,} of {len(ids):,} prompts ({named}) have vectors {what}", str(file), mend)


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
        texts=tuple(suite.texts[row] for row in rows) if suite.texts else (),
        lengths=suite.lengths[rows],
        scores=suite.scores[rows],
        blocks={name: block[rows] for name, block in suite.blocks.items()},
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
    have_texts = all(part.texts for part in parts)
    return Suite(
        name="+".join(names),
        ids=np.concatenate([_prefixed(part.name, part.ids) for part in parts]),
        groups=np.concatenate([_benchmarks_of(part) for part in parts]),
        texts=tuple(text for part in parts for text in part.texts) if have_texts else (),
        lengths=np.concatenate([part.lengths for part in parts]),
        scores=np.concatenate([part.scores[:, own] for part, own in zip(parts, columns, strict=True)]),
        models=tuple(common),
        blocks=_common_blocks(parts),
    )


def _common_blocks(parts: Sequence[Suite]) -> dict[str, NDArray[Any]]:
    """Blocks that all parts bring, of the same width."""
    names = [name for name in parts[0].blocks if all(name in part.blocks for part in parts)]
    fit = [name for name in names if len({part.blocks[name].shape[1] for part in parts}) == 1]
    return {name: np.concatenate([part.blocks[name] for part in parts]) for name in fit}


def _prefixed(name: str, values: NDArray[np.str_]) -> NDArray[np.str_]:
    return np.array([f"{name}/{value}" for value in values], dtype=np.str_)


def _benchmarks_of(part: Suite) -> NDArray[np.str_]:
    """A folder is a benchmark, or its groups are, named after it."""
    if len(part.benchmarks) > 1:
        return _prefixed(part.name, part.groups)
    return np.full(len(part.groups), part.name, dtype=f"<U{len(part.name)}")


def _telling(suite: Suite) -> Suite:
    """Drop models without a score in some benchmark and those that repeat another, and say what is unusual."""
    scored = ~np.isnan(suite.scores)
    by_group = np.array([scored[suite.groups == group].any(axis=0) for group in suite.benchmarks])
    keep: NDArray[np.bool_] = np.asarray(by_group.all(axis=0))
    some = np.asarray(scored.any(axis=0))
    _say(suite.name, suite.models, ~some, "have no score at all and are left out")
    _say(suite.name, suite.models, some & ~keep, "have no score in some benchmark and are left out")
    if not keep.any():
        raise UsageError("no model has a score in every benchmark", where=suite.name)
    kept = _with_models(suite, keep)
    repeated = _repeated(kept)
    _say(suite.name, kept.models, repeated, "score the same as another model in every cell and are left out")
    kept = _with_models(kept, ~repeated)
    constant = _constant(kept.scores)
    _say(suite.name, kept.models, constant, "score the same on every prompt; they are kept")
    names, sizes = np.unique(suite.groups, return_counts=True)
    _say(suite.name, names, sizes == 1, "are benchmarks of one prompt; it is in every sub-pool")
    if (copies := len(suite.texts) - len(set(suite.texts))) > 0:
        log.info("%s: %d prompts repeat the text of another; each counts for itself", suite.name, copies)
    return kept


def _with_models(suite: Suite, keep: NDArray[np.bool_]) -> Suite:
    models = tuple(model for model, kept in zip(suite.models, keep, strict=True) if kept)
    return replace(suite, scores=suite.scores[:, keep], models=models)


def _constant(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(models,) which score the same wherever they have a score."""
    return np.asarray(np.nanmin(scores, axis=0) == np.nanmax(scores, axis=0))


def _repeated(suite: Suite) -> NDArray[np.bool_]:
    """(models,) which repeat one with an earlier name, so that scores held out would be seen all the same.

    Constant ones are left alone: all that fail everywhere are alike without being the same model.
    """
    found = np.zeros(len(suite.models), np.bool_)
    if len(suite.ids) < _LEAST_TELLING:
        return found
    cells = np.nan_to_num(suite.scores, nan=-1.0) + 0.0  # -0.0 is 0.0
    varied = ~_constant(suite.scores)
    seen: set[bytes] = set()
    for place in sorted(np.flatnonzero(varied).tolist(), key=lambda place: suite.models[place]):
        column = cells[:, place].tobytes()
        found[place] = column in seen
        seen.add(column)
    return found


def _say(where: str, names: Sequence[str] | NDArray[np.str_], concerned: NDArray[np.bool_], what: str) -> None:
    found = [str(name) for name, hit in zip(names, concerned, strict=True) if hit]
    if found:
        log.warning("%s: %d of %d %s: %s", where, len(found), len(names), what, examples(found))
