"""What features explain of models' scores on single prompts, and so what balancing picks on them can bring at best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.protocol import Protocol
from benchcore.lab.splits import split_models
from benchcore.lab.suites import Suite

Values = NDArray[np.float64]

_FOLDS = 5
_PENALTIES = np.logspace(-2, 4, 13)


@dataclass(frozen=True)
class Explained:
    """Share of the variance of a model's item scores inside benchmarks that something explains, mean over models.

    Attributes:
        suite: name.
        by: names of feature blocks joined by `+`, or `panel of 3`.
        share: cross-validated R2; negative where it explains nothing.
        bound: sqrt(1 - share): the ratio of errors that picks balanced on it perfectly would have.
    """

    suite: str
    by: str
    share: float
    bound: float


def explained(suite: Suite, features: Mapping[str, NDArray[Any]], protocol: Protocol) -> list[Explained]:
    """Measure each feature block, all together, and panels of models.

    Args:
        suite: prompts and scores.
        features: blocks by name.
        protocol: its panels' sizes and its seed.
    """
    groups = np.unique(suite.groups, return_inverse=True)[1].astype(np.int64)
    blocks = {name: standardised(block) for name, block in features.items()}
    if len(blocks) > 1:
        blocks["+".join(blocks)] = np.hstack(list(blocks.values()))
    fold = protocol.generator("folds", suite.name).integers(0, _FOLDS, len(suite.ids))
    found = {name: explained_share(block, suite.scores, groups, fold) for name, block in blocks.items()}
    strength = np.nanmean(suite.scores, axis=0)
    for size in protocol.panel:
        if 2 * size <= len(suite.models):
            split = split_models("random", suite.models, strength, protocol.generator("explained", suite.name))
            panel = _filled(suite.scores[:, split.source[:size]], groups)
            found[f"panel of {size}"] = explained_share(panel, suite.scores[:, split.held], groups, fold)
    return [Explained(suite.name, by, share, float(np.sqrt(1 - max(0.0, share)))) for by, share in found.items()]


def explained_share(columns: Values, scores: Values, groups: NDArray[np.int64], fold: NDArray[np.int64]) -> float:
    """Cross-validated R2 of a ridge regression inside groups, mean over models, with the best penalty.

    Args:
        columns: (n, d) features.
        scores: (n, models), NaN where missing.
        groups: (n,) group numbers.
        fold: (n,) part in which each row is predicted from the other parts.
    """
    inside, target = _filled(columns, groups), _filled(scores, groups)
    seen = np.isfinite(scores)
    total = np.where(seen, target**2, 0.0).sum(axis=0)
    missed = np.zeros((len(_PENALTIES), scores.shape[1]))
    for number in np.unique(fold):
        rest, own = fold != number, fold == number
        values, vectors = np.linalg.eigh(inside[rest].T @ inside[rest])
        shown = rest.sum() / np.maximum(seen[rest].sum(axis=0), 1)  # missing scores are zeros in the sums
        moved, towards = inside[own] @ vectors, vectors.T @ (inside[rest].T @ target[rest]) * shown
        for place, penalty in enumerate(_PENALTIES * max(float(values.mean()), 1e-12)):
            predicted = moved @ (towards / (np.maximum(values, 0.0) + penalty)[:, None])
            missed[place] += np.where(seen[own], (target[own] - predicted) ** 2, 0.0).sum(axis=0)
    varied = total > 0
    if not varied.any():
        return 0.0
    return float(np.max(np.mean(1 - missed[:, varied] / total[varied], axis=1)))


def standardised(block: NDArray[Any]) -> Values:
    """Columns with mean 0, scaled so that the block as a whole has variance 1 a row; surface figures each by itself."""
    centred = np.asarray(block, np.float64) - np.asarray(block, np.float64).mean(axis=0)
    if block.dtype == np.float64:
        spread = centred.std(axis=0)
        centred = centred / np.where(spread > 0, spread, 1.0)
    scale = float(np.sqrt((centred**2).sum(axis=1).mean()))
    return np.asarray(centred / (scale if scale > 0 else 1.0), np.float64)


def _filled(values: Values, groups: NDArray[np.int64]) -> Values:
    """Values less their group's mean; a missing one is 0."""
    member = np.zeros((int(groups.max()) + 1, len(groups)))
    member[groups, np.arange(len(groups))] = 1.0
    seen = np.isfinite(values)
    known = np.where(seen, values, 0.0)
    means = (member @ known) / np.maximum(member @ seen, 1)
    return np.asarray(np.where(seen, known - means[groups], 0.0), np.float64)
