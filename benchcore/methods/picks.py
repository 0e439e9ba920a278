"""What a selection gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Bounds:
    """How far from optimal picks can be at most, in the objective's own terms.

    Attributes:
        upper_bound: no set that the constraint allows is worth more.
        ratio: value / upper_bound, in [0, 1].
        kind: `exact`.
        prefixes: the same bound for every prefix, among the sets that could be a prefix instead.
        fewest: with `cover`: no fewer picks than this reach the share.
    """

    upper_bound: float
    ratio: float
    kind: str
    prefixes: tuple[float, ...]
    fewest: int | None = None


@dataclass(frozen=True, eq=False)
class Picks:
    """Picked rows, in the order of picking.

    Attributes:
        indices: (k,) int64 row numbers.
        ids: (k,) their ids as text, whatever they were given as; row numbers where none were given.
        gains: (k,) increase of the objective with each pick.
        value: the objective at the end: the sum of the gains.
        weights: (k,) what each pick's score counts in the estimate of the whole, summing to 1: equal inside a group,
            groups by their mass.
        certificate: how far from optimal the picks can be at most; None where nothing is known.
        borrowed: groups without a pick, in order of name, whose part of the weights the others carry, in proportion to
            their own.
    """

    indices: NDArray[np.int64]
    ids: tuple[str, ...]
    gains: NDArray[np.float64]
    value: float
    weights: NDArray[np.float64]
    certificate: Bounds | None
    borrowed: tuple[str, ...]
