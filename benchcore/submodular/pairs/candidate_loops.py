"""The compiled loops of `candidate_gains` and `candidate_lists`. Imported only for large inputs.

All numbers are whole (see `quantise`), so sums are exact in double precision and the compiler may reorder them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.compilation import compiled

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]

_EXACT = {"reassoc", "nsz", "contract", "nnan", "ninf"}
_STRIP = 1024  # candidates whose sums stay in the innermost cache


@compiled(fastmath=_EXACT)
def add_between(block: Singles, low: Singles, high: Singles, mass: Doubles, sums: Doubles) -> None:
    """sums[j] += sum_i mass[i] (min(max(block[i, j], low[i]), high[i]) - low[i])."""
    for first in range(0, block.shape[1], _STRIP):
        last = min(first + _STRIP, block.shape[1])
        part = sums[first:last]
        for i in range(block.shape[0]):
            row, least, most, weight = block[i, first:last], low[i], high[i], mass[i]
            if most > least:
                for j in range(last - first):
                    part[j] += weight * np.float64(min(max(row[j], least), most) - least)


@compiled()
def count_above(block: Singles, coverage: Singles, counts: NDArray[np.int64]) -> None:
    """How many of each row exceed its coverage."""
    for i in range(block.shape[0]):
        row, covered = block[i], coverage[i]
        count = np.int32(0)
        for j in range(block.shape[1]):
            count += np.int32(row[j] > covered)
        counts[i] = count


@compiled()
def collect_above(
    block: Singles,
    coverage: Singles,
    rows: NDArray[np.int64],
    found: NDArray[np.uint16],
    candidates: NDArray[np.int32],
    similarities: Singles,
) -> None:
    """Write what exceeds the coverage in some rows of a block, row by row; these rows are numbered from 0."""
    end = 0
    for place in range(len(rows)):
        row, covered = block[rows[place]], coverage[rows[place]]
        for j in range(block.shape[1]):
            if row[j] > covered:
                found[end], candidates[end], similarities[end] = place, j, row[j]
                end += 1


@compiled()
def place_by_candidate(
    found: NDArray[np.uint16],
    candidates: NDArray[np.int32],
    similarities: Singles,
    ends: NDArray[np.int64],
    to_rows: NDArray[np.uint16],
    to_similarities: Singles,
) -> None:
    """Append each entry to its candidate's list."""
    for entry in range(len(candidates)):
        end = ends[candidates[entry]]
        to_rows[end], to_similarities[end] = found[entry], similarities[entry]
        ends[candidates[entry]] = end + 1


@compiled()
def add_list_gains(
    candidates: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.uint16],
    similarities: Singles,
    coverage: Singles,
    mass: Doubles,
    gains: Doubles,
) -> None:
    """Add what some candidates gain on the rows of their lists."""
    for place in range(len(candidates)):
        gain = 0.0
        for entry in range(starts[candidates[place]], starts[candidates[place] + 1]):
            rise = similarities[entry] - coverage[rows[entry]]
            if rise > 0:
                gain += mass[rows[entry]] * np.float64(rise)
        gains[place] += gain
