"""The levels of one-byte codes: fine steps where most similarities lie, coarse ones above."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import TOP

_LAST = 255
_FINE_CODES = (128, 192, 224, 240)
_QUANTILES = (0.9, 0.99, 0.999, 0.9999, 1.0)


@dataclass(frozen=True)
class CodeScale:
    """Code c stands for similarities of at most max(c * fine, (c - knee) * coarse + limit); 0 for those not positive.

    All are whole numbers that single precision holds. `coarse` is at least `fine`, `limit` is knee * fine, and code 255
    stands for at least TOP.
    """

    fine: int
    coarse: int
    knee: int

    @property
    def decoding(self) -> tuple[np.float32, np.float32, np.float32, np.float32]:
        """What `loops.add_bounds` needs: fine, coarse, knee, limit."""
        return np.float32(self.fine), np.float32(self.coarse), np.float32(self.knee), np.float32(self.knee * self.fine)

    @property
    def encoding(self) -> tuple[np.float32, np.float32, np.float32, np.float32]:
        """What `loops.encode` needs: 1 / fine, 1 / coarse, knee, limit."""
        _, _, knee, limit = self.decoding
        return np.float32(1 / self.fine), np.float32(1 / self.coarse), knee, limit

    def error(self, similarities: NDArray[np.float32]) -> float:
        """By how much the levels exceed the similarities on average."""
        fine, coarse, knee, limit = (float(each) for each in self.decoding)
        codes = np.ceil(np.minimum(similarities / fine, (similarities - limit) / coarse + knee))
        return float(np.mean(np.maximum(codes * fine, (codes - knee) * coarse + limit) - similarities))


def choose_scale(sample: NDArray[np.float32]) -> CodeScale:
    """The scale of the least error among some that give a number of codes to what lies below a quantile.

    Args:
        sample: some similarities.
    """
    positive = sample[sample > 0]
    if not positive.size:
        positive = np.ones(1, np.float32)
    limits = np.quantile(positive, _QUANTILES)
    scales = [_scale(float(limit), codes) for limit in limits for codes in _FINE_CODES]
    return min(scales, key=lambda scale: scale.error(positive))


def _scale(limit: float, codes: int) -> CodeScale:
    """Codes up to `codes` for similarities up to `limit`, the others for those above, up to TOP."""
    fine = min(math.ceil(limit / codes), math.ceil(TOP / _LAST))
    coarse = math.ceil((TOP - codes * fine) / (_LAST - codes))
    return CodeScale(fine, max(fine, coarse), codes)
