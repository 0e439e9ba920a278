"""What every optimizer takes beside the objective, and leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NONE: NDArray[np.int64] = np.zeros(0, np.int64)
Advance = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Landmark:
    """Upper bounds on all gains at some moment of a run, from which certificates are made.

    Attributes:
        value: the objective at that moment.
        bounds: (n,) at least each candidate's gain there.
    """

    value: float
    bounds: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Greedy:
    """What a run leaves.

    Attributes:
        order: picks in the order of picking; includes come first.
        gains: increase of the objective with each pick.
        landmarks: moments of the run, the last of them its end; none where they were not asked for.
    """

    order: NDArray[np.int64]
    gains: NDArray[np.float64]
    landmarks: tuple[Landmark, ...] = ()
