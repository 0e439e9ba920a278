"""Where the picks stand for the prompts least well: the places at which one more pick would raise the coverage most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import UNIT, Rows

_BLOCK = 4096
_SHORTLIST = 2  # times as many candidates as regions are weighed by all rows
_SAMPLE = 20_000  # rows that the others are weighed by


@dataclass(frozen=True, eq=False)
class Region:
    """Prompts that a further pick would stand for better than the picks that there are.

    Attributes:
        centre: row of that pick.
        members: rows, the nearest to the centre first.
        gain: what it would add to the coverage.
        before: mean coverage of the members, in [0, 1].
        after: the same with the further pick.
    """

    centre: int
    members: NDArray[np.int64]
    gain: float
    before: float
    after: float


def least_covered(
    rows: Rows,
    mass: NDArray[np.float64],
    coverage: NDArray[np.float64],
    candidates: NDArray[np.int64],
    count: int,
) -> list[Region]:
    """Greedily choose further picks among some candidates: each centre is chosen as if those before it were picked.

    Args:
        rows: (n, d) as `quantise` makes them.
        mass: (n,) summing to 1.
        coverage: (n,) by the picks, in [0, 1].
        candidates: row numbers that may become centres.
        count: how many regions at the most; there are fewer where nothing is left to gain.
    """
    part = slice(None, None, max(1, -(-len(rows) // _SAMPLE)))
    chosen = candidates[_shortlist(rows[part], mass[part], coverage[part], rows[candidates], _SHORTLIST * count)]
    similarity = np.maximum(rows @ rows[chosen].T, 0.0).astype(np.float64) / UNIT
    left, regions = coverage.copy(), []
    for _ in range(min(count, len(chosen))):
        gains = np.round(mass @ np.maximum(similarity - left[:, None], 0.0), 12)
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        toward = similarity[:, best]
        members = np.flatnonzero(toward > left)
        members = members[np.argsort(-toward[members], kind="stable")]
        before, after = float(left[members].mean()), float(toward[members].mean())
        regions.append(Region(int(chosen[best]), members, float(gains[best]), before, after))
        left = np.maximum(left, toward)
    return regions


def _shortlist(
    rows: Rows, mass: NDArray[np.float64], coverage: NDArray[np.float64], further: Rows, count: int
) -> NDArray[np.int64]:
    """Further picks as the lazy greedy algorithm takes them (Minoux 1978): the best alone may all lie in one crowd."""
    similarity = further @ np.ascontiguousarray(rows.T)
    left = (coverage * UNIT).astype(np.float32)

    def gain(candidate: int) -> float:
        return round(float(mass @ np.maximum(similarity[candidate] - left, 0.0).astype(np.float64)) / UNIT, 12)

    bounds = np.array([gain(candidate) for candidate in range(len(further))])
    chosen: list[int] = []
    while len(chosen) < min(count, len(further)):
        best = int(np.argmax(bounds))
        if bounds[best] <= 0:
            break
        bounds[best] = gain(best)
        if bounds[best] >= bounds.max():
            chosen.append(best)
            left, bounds[best] = np.maximum(left, similarity[best]), 0.0
    return np.array(chosen, np.int64)
