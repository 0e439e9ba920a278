"""Models that are predicted, apart from models that are learnt from: at random, by family, or the strongest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.task_completion import complete
from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.methods.names import require_known

Indices = NDArray[np.int64]

SPLITS = ("random", "family", "strongest")
_HELD = 0.3
_LEAST_MODELS = 5


@dataclass(frozen=True, eq=False)
class Split:
    """Which models are predicted, and which are learnt from; none is both.

    Attributes:
        held: positions of the models that are predicted, ascending.
        source: positions of those whose scores methods and estimators see. A bootstrap sample names some twice.
    """

    held: Indices
    source: Indices


class Splitter:
    """Splits of the models of a leaderboard, one for each number.

    * `random`: halves.
    * `family`: whole families are held out until 30 % of the models are.
    * `strongest`: the strongest 30 % are held out, and the source is a bootstrap sample of the others.

    Args:
        matrix: the leaderboard.
        kind: of split.
        seed: of all draws.

    Raises:
        UsageError: the kind is unknown, or there are too few models or families.
    """

    def __init__(self, matrix: ScoreMatrix, kind: str, seed: int = 0) -> None:
        require_known(kind, SPLITS, "split", "--splits")
        self._count = len(matrix.models)
        if self._count < _LEAST_MODELS:
            raise UsageError(
                f"{self._count} models are too few to hold some out", matrix.name, f"Have at least {_LEAST_MODELS}."
            )
        self._kind, self._seed = kind, seed
        self._families = np.unique(matrix.families, return_inverse=True)[1]
        if kind == "family" and self._families.max() == 0:
            raise UsageError(
                f"all models are of the family '{matrix.families[0]}'", matrix.name, "Leave out the split by family."
            )
        if kind == "strongest":
            self._order = np.argsort(-complete(matrix.scores).scores.mean(axis=1), kind="stable")

    def draw(self, number: int) -> Split:
        """The split with this number: it depends on the leaderboard, the kind, the seed and the number alone."""
        generator = np.random.default_rng([self._seed, SPLITS.index(self._kind), number])
        everything = np.arange(self._count)
        wanted = max(1, round(_HELD * self._count))
        if self._kind == "random":
            held = generator.permutation(self._count)[: self._count // 2]
        elif self._kind == "family":
            held = self._whole_families(generator, wanted)
        else:
            held = self._order[:wanted]
        source = np.setdiff1d(everything, held)
        if self._kind == "strongest":
            source = np.sort(generator.choice(source, len(source)))
        return Split(np.sort(held).astype(np.int64), source.astype(np.int64))

    def _whole_families(self, generator: np.random.Generator, wanted: int) -> Indices:
        """Families in random order; one that would leave fewer than half of the models is passed over."""
        held = np.zeros(self._count, bool)
        sizes = np.bincount(self._families)
        for family in generator.permutation(len(sizes)):
            if held.sum() < wanted and held.sum() + sizes[family] <= self._count // 2:
                held |= self._families == family
        if not held.any():  # one family is most of the leaderboard: all others are held out
            held = self._families != int(np.argmax(sizes))
        return np.flatnonzero(held).astype(np.int64)
