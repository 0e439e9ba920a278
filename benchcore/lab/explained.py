"""What features explain linearly of models' scores on single prompts, and so what balance on them can bring at best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.protocol import Protocol, benchmark_means, macro_scores
from benchcore.lab.splits import split_models
from benchcore.lab.suites import Suite

Values = NDArray[np.float64]

_FOLDS = 5
_PENALTIES = np.logspace(-2, 4, 13)
# So many panels of each size are drawn: a small one is as good as the luck of its draw.
_PANELS = 5
# Below it, a variance is rounding.
_ROUNDING = 1e-12
# Its columns have scales of their own.
_SURFACE = "surface"


@dataclass(frozen=True)
class Explained:
    """Share of the variance of a model's item scores inside benchmarks that a linear regression explains.

    Attributes:
        suite: name.
        by: names of feature blocks joined by `+`, or `panel of 3`.
        share: cross-validated R2, mean over models; about 0 or below where it explains nothing.
        bound: sqrt(1 - share): the ratio of errors that picks would have on which the regression leaves nothing to
            chance. It binds those alone that use the features linearly; what they say beyond that is not in it.
    """

    suite: str
    by: str
    share: float
    bound: float


def explained(suite: Suite, features: Mapping[str, NDArray[Any]], protocol: Protocol) -> list[Explained]:
    """Measure each feature block, all together, and panels of models, several of each size on average.

    Args:
        suite: prompts and scores.
        features: blocks by name.
        protocol: its panels' sizes, its split of models and its seed.
    """
    groups = np.unique(suite.groups, return_inverse=True)[1].astype(np.int64)
    blocks = {name: standardised(block, name) for name, block in features.items()}
    if len(blocks) > 1:
        blocks["+".join(blocks)] = np.hstack(list(blocks.values()))
    fold = protocol.generator("folds", suite.name).integers(0, _FOLDS, len(suite.ids))
    found = {name: explained_share(block, suite.scores, groups, fold) for name, block in blocks.items()}
    for size in protocol.panel:
        if 2 * size <= len(suite.models):
            shares = _shares_of_panels(suite, size, groups, fold, protocol)
            if shares:
                found[f"panel of {size}"] = float(np.mean(shares))
    return [Explained(suite.name, by, share, float(np.sqrt(1 - max(0.0, share)))) for by, share in found.items()]


def explained_share(columns: Values, scores: Values, groups: NDArray[np.int64], fold: NDArray[np.int64]) -> float:
    """Cross-validated R2 of a ridge regression inside groups, mean over models.

    Nothing is learnt from the rows that are predicted: features and scores are taken relative to their groups' means
    over the other folds, and the penalty, one for all models, is that which is best on the last of those folds after a
    fit on the rest. So noise has an R2 of about 0 or below in groups of any size. Prompts whose group has no score in
    the other folds do not count.

    Args:
        columns: (n, d) features; a missing one, NaN, is taken as its group's mean.
        scores: (n, models), NaN where missing.
        groups: (n,) group numbers.
        fold: (n,) part in which each row is predicted from the other parts.
    """
    missed, total = np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    numbers = np.unique(fold)
    for place, number in enumerate(numbers):
        checked = (fold == numbers[place - 1]) & (fold != number)
        learnt = (fold != number) & ~checked
        tried = _share(*_missed(columns, scores, groups, learnt, checked, penalties=_PENALTIES))
        best = _PENALTIES[::-1][[int(np.argmax(tried[::-1]))]]  # of equals the largest
        own_missed, own_total = _missed(columns, scores, groups, learnt | checked, fold == number, penalties=best)
        missed, total = missed + own_missed[0], total + own_total
    return float(_share(missed[None], total)[0])


def standardised(block: NDArray[Any], name: str) -> Values:
    """Columns with mean 0, scaled so that the block as a whole has variance 1 a row; surface figures each by itself."""
    centred = np.asarray(block, np.float64) - np.asarray(block, np.float64).mean(axis=0)
    if name == _SURFACE:
        spread = centred.std(axis=0)
        centred = centred / np.where(spread > 0, spread, 1.0)
    scale = float(np.sqrt((centred**2).sum(axis=1).mean()))
    return np.asarray(centred / (scale if scale > 0 else 1.0), np.float64)


def _shares_of_panels(
    suite: Suite, size: int, groups: NDArray[np.int64], fold: NDArray[np.int64], protocol: Protocol
) -> list[float]:
    """What panels explain of models that are held out; nothing where the split leaves too few to look at."""
    strength, shares = macro_scores(suite.scores, groups), []
    for number in range(_PANELS):
        generator = protocol.generator("explained", suite.name, number)
        split = split_models(protocol.split, suite.models, strength, generator)
        if size <= len(split.source):
            panel = suite.scores[:, split.source[:size]]
            shares.append(explained_share(panel, suite.scores[:, split.held], groups, fold))
    return shares


def _missed(
    columns: Values,
    scores: Values,
    groups: NDArray[np.int64],
    learnt: NDArray[np.bool_],
    asked: NDArray[np.bool_],
    *,
    penalties: Values,
) -> tuple[Values, Values]:
    """(penalties, models) squared errors on the rows that are asked for, and (models,) those of the groups' means."""
    inside, target = _relative(columns, groups, learnt), _relative(scores, groups, learnt)
    inside = np.where(np.isnan(inside), 0.0, inside)
    seen, target = ~np.isnan(target), np.where(np.isnan(target), 0.0, target)
    values, vectors = np.linalg.eigh(inside[learnt].T @ inside[learnt])
    shown = learnt.sum() / np.maximum(seen[learnt].sum(axis=0), 1)  # missing scores are zeros in the sums
    moved, towards = inside[asked] @ vectors, vectors.T @ (inside[learnt].T @ target[learnt]) * shown
    missed = np.zeros((len(penalties), scores.shape[1]))
    for place, penalty in enumerate(penalties * max(float(values.mean()), _ROUNDING)):
        predicted = moved @ (towards / (np.maximum(values, 0.0) + penalty)[:, None])
        missed[place] = np.where(seen[asked], (target[asked] - predicted) ** 2, 0.0).sum(axis=0)
    return missed, (target[asked] ** 2).sum(axis=0)


def _relative(values: Values, groups: NDArray[np.int64], learnt: NDArray[np.bool_]) -> Values:
    """Values less their group's mean over some rows; NaN where it has none there."""
    means = benchmark_means(values[learnt], groups[learnt], int(groups.max()) + 1)
    return np.asarray(values - means[groups], np.float64)


def _share(missed: Values, total: Values) -> Values:
    """(penalties,) R2, mean over the models whose scores vary; 0 where none does."""
    varied = total > _ROUNDING
    if not varied.any():
        return np.zeros(len(missed))
    return np.asarray(np.mean(1 - missed[:, varied] / total[varied], axis=1), np.float64)
