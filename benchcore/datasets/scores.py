"""Score sets that ship: how models score on prompts, with the features of the prompts' texts but not the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.datasets.index import SCORES, entry_of, folder

MISSING = -1
# In files, feature blocks are halves; these are the precisions in which they are handed out.
PRECISIONS: Mapping[str, Any] = {"embedding": np.float32, "surface": np.float64, "ngrams": np.float32}


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """Scores of models on prompts.

    Attributes:
        name: of the data set.
        ids: (n,) of the prompts, distinct.
        groups: (n,) benchmark of each prompt.
        models: (models,) distinct.
        scores: (n, models) 0 or 1, NaN where missing.
        features: blocks by name, of half precision: `embedding` (n, d) float32, `surface` (n, s) float64, `ngrams`
            (n, 100) float32; of the texts with options and answers.
        lengths: (n,) characters of each text.
        licence: of the figures.
        source: where they come from.
        note: what a user must know about them.
    """

    name: str
    ids: NDArray[np.str_]
    groups: NDArray[np.str_]
    models: tuple[str, ...]
    scores: NDArray[np.float64]
    features: Mapping[str, NDArray[Any]]
    lengths: NDArray[np.int64]
    licence: str
    source: str
    note: str


def load_scores(name: str) -> ScoreSet:
    """Load a score set that ships.

    Args:
        name: one of `names("scores")`.

    Raises:
        UsageError: there is no such score set.
    """
    entry = entry_of(name, SCORES)
    with (folder() / entry.file).open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        cells = arrays["scores"]
        return ScoreSet(
            name=name,
            ids=arrays["ids"],
            groups=arrays["groups"],
            models=tuple(arrays["models"].tolist()),
            scores=np.where(cells == MISSING, np.nan, cells.astype(np.float64)),
            features={block: arrays[block].astype(precision) for block, precision in PRECISIONS.items()},
            lengths=arrays["lengths"].astype(np.int64),
            licence=entry.licence,
            source=entry.source,
            note=entry.note,
        )


def packed(
    *,
    ids: NDArray[np.str_],
    groups: NDArray[np.str_],
    models: tuple[str, ...],
    scores: NDArray[np.float64],
    features: Mapping[str, NDArray[Any]],
    lengths: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    """Arrays as they lie in a file: scores of 0 and 1 as bytes, feature blocks as halves.

    Raises:
        ValueError: a score is neither 0 nor 1 nor missing.
    """
    missing = np.isnan(scores)
    if not np.isin(scores[~missing], (0, 1)).all():
        raise ValueError("scores other than 0 and 1 cannot be packed")
    return {
        "ids": ids,
        "groups": groups,
        "models": np.array(models),
        "scores": np.where(missing, MISSING, np.nan_to_num(scores)).astype(np.int8),
        "lengths": lengths.astype(np.int32),
        **{name: features[name].astype(np.float16) for name in PRECISIONS},
    }


def write_arrays(file: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file that `load_scores` reads; the same arrays give the same bytes."""
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(file, **named)
