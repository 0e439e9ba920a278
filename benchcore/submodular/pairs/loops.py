"""The compiled loops over tiles of similarities. Imported only for large inputs: the compiler takes seconds.

Similarities, coverages and masses are whole numbers (see `quantise`), so sums are exact in double precision and the
compiler may reorder them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.compilation import compiled

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Codes = NDArray[np.uint8]

_EXACT = {"reassoc", "nsz", "contract", "nnan", "ninf"}
_UPWARDS = np.float32(1e-4)  # codes; more than single precision can lose in one
SINGLE_SUMS = 1 + 2.0**-13  # more than a sum of 1,024 positive numbers loses in single precision (1,030 * 2^-24)
_STRIP = 512  # represented rows whose coverage and mass stay in the innermost cache


@compiled(fastmath=_EXACT)
def add_gains(tile: Singles, coverage: Singles, mass: Doubles, gains: Doubles) -> None:
    """gains[i] += sum_j mass[j] max(tile[i, j] - coverage[j], 0)."""
    zero = np.float32(0)
    for first in range(0, tile.shape[1], _STRIP):
        last = min(first + _STRIP, tile.shape[1])
        covered, weight = coverage[first:last], mass[first:last]
        for i in range(tile.shape[0]):
            row = tile[i, first:last]
            gain = 0.0
            for j in range(last - first):
                gain += weight[j] * np.float64(max(row[j] - covered[j], zero))
            gains[i] += gain


@compiled(fastmath=_EXACT)
def add_gains_both_ways(
    tile: Singles,
    coverage: Singles,
    mass: Doubles,
    gains: Doubles,
    own_coverage: Singles,
    own_mass: Doubles,
    other_gains: Doubles,
) -> None:
    """The same, and other_gains[j] += sum_i own_mass[i] max(tile[i, j] - own_coverage[i], 0)."""
    zero = np.float32(0)
    for first in range(0, tile.shape[1], _STRIP):
        last = min(first + _STRIP, tile.shape[1])
        covered, weight, other = coverage[first:last], mass[first:last], other_gains[first:last]
        for i in range(tile.shape[0]):
            row = tile[i, first:last]
            gain = 0.0
            for j in range(last - first):
                gain += weight[j] * np.float64(max(row[j] - covered[j], zero))
                other[j] += own_mass[i] * np.float64(max(row[j] - own_coverage[i], zero))
            gains[i] += gain


@compiled(fastmath=_EXACT)
def encode(
    tile: Singles, per_fine: np.float32, per_coarse: np.float32, knee: np.float32, limit: np.float32, codes: Codes
) -> None:
    """Round positive similarities up to the levels of a `CodeScale`; code 0 for what is not positive."""
    for i in range(tile.shape[0]):
        row, code = tile[i], codes[i]
        for j in range(tile.shape[1]):
            level = min(row[j] * per_fine, (row[j] - limit) * per_coarse + knee) + _UPWARDS
            code[j] = np.uint8(min(np.int32(level) + np.int32(1), np.int32(255)) if row[j] > 0 else np.int32(0))


@compiled(fastmath=_EXACT)
def add_bounds(
    codes: Codes,
    fine: np.float32,
    coarse: np.float32,
    knee: np.float32,
    limit: np.float32,
    coverage: Singles,
    mass: Singles,
    bounds: Doubles,
) -> None:
    """As `add_gains`, of upper bounds and in single precision: see `SINGLE_SUMS`."""
    zero = np.float32(0)
    for i in range(codes.shape[0]):
        row = codes[i]
        bound = np.float32(0)
        for j in range(codes.shape[1]):
            code = np.float32(row[j])
            bound += mass[j] * max(max(code * fine, (code - knee) * coarse + limit) - coverage[j], zero)
        bounds[i] += np.float64(bound)


@compiled(fastmath=_EXACT)
def add_bounds_both_ways(
    codes: Codes,
    fine: np.float32,
    coarse: np.float32,
    knee: np.float32,
    limit: np.float32,
    coverage: Singles,
    mass: Singles,
    bounds: Doubles,
    own_coverage: Singles,
    own_mass: Singles,
    other_bounds: Doubles,
) -> None:
    """As `add_gains_both_ways`, of upper bounds and in single precision: see `SINGLE_SUMS`."""
    zero = np.float32(0)
    others = np.zeros(codes.shape[1], np.float32)
    for i in range(codes.shape[0]):
        row = codes[i]
        bound = np.float32(0)
        for j in range(codes.shape[1]):
            code = np.float32(row[j])
            similarity = max(code * fine, (code - knee) * coarse + limit)
            bound += mass[j] * max(similarity - coverage[j], zero)
            others[j] += own_mass[i] * max(similarity - own_coverage[i], zero)
        bounds[i] += np.float64(bound)
    other_bounds += others


@compiled(fastmath=_EXACT)
def add_counts(
    codes: Codes,
    fine: np.float32,
    coarse: np.float32,
    knee: np.float32,
    limit: np.float32,
    coverage: Singles,
    own_coverage: Singles,
    counts: NDArray[np.int32],
    other_counts: NDArray[np.int32],
) -> None:
    """Count the upper bounds that exceed the tile row's or the tile column's coverage, by row and by column."""
    for i in range(codes.shape[0]):
        row = codes[i]
        count = np.int32(0)
        for j in range(codes.shape[1]):
            code = np.float32(row[j])
            similarity = max(code * fine, (code - knee) * coarse + limit)
            raises = np.int32(similarity > min(own_coverage[i], coverage[j]))
            count += raises
            other_counts[j] += raises
        counts[i] += count


@compiled()
def append_rows(
    tile: Singles,
    own_coverage: Singles,
    coverage: Singles,
    first: int,
    ends: NDArray[np.int64],
    others: NDArray[np.int32],
    similarities: Singles,
) -> None:
    """Append to each tile row's list the columns, numbered from first, to which its similarity exceeds a coverage."""
    for i in range(tile.shape[0]):
        end, covered = ends[i], own_coverage[i]
        for j in range(tile.shape[1]):
            if tile[i, j] > min(covered, coverage[j]):
                others[end] = first + j
                similarities[end] = tile[i, j]
                end += 1
        ends[i] = end


@compiled()
def append_columns(
    tile: Singles,
    own_coverage: Singles,
    coverage: Singles,
    first: int,
    ends: NDArray[np.int64],
    others: NDArray[np.int32],
    similarities: Singles,
) -> None:
    """Append to each tile column's list the rows, numbered from first, to which its similarity exceeds a coverage."""
    for i in range(tile.shape[0]):
        covered = own_coverage[i]
        for j in range(tile.shape[1]):
            if tile[i, j] > min(covered, coverage[j]):
                end = ends[j]
                others[end] = first + i
                similarities[end] = tile[i, j]
                ends[j] = end + 1


@compiled()
def list_gains(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    others: NDArray[np.int32],
    similarities: Singles,
    coverage: Singles,
    mass: Doubles,
    gains: Doubles,
) -> None:
    """Gains of candidates first to last from their lists."""
    for candidate in range(first, last):
        gain = 0.0
        for entry in range(starts[candidate], ends[candidate]):
            rise = similarities[entry] - coverage[others[entry]]
            if rise > 0:
                gain += mass[others[entry]] * np.float64(rise)
        gains[candidate] = gain


@compiled()
def raise_coverage(
    pick: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    others: NDArray[np.int32],
    similarities: Singles,
    coverage: Singles,
    mass: Doubles,
    gains: Doubles,
) -> None:
    """Raise the coverage by a pick, and lower the gains of all that would have raised the same rows."""
    for entry in range(starts[pick], ends[pick]):
        row, now = others[entry], similarities[entry]
        before = coverage[row]
        if now > before:
            for rival in range(starts[row], ends[row]):
                lost = min(similarities[rival], now) - before
                if lost > 0:
                    gains[others[rival]] -= mass[row] * np.float64(lost)
            coverage[row] = now


@compiled()
def drop_settled(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    others: NDArray[np.int32],
    similarities: Singles,
    coverage: Singles,
) -> None:
    """Drop from the lists first to last the pairs whose similarity exceeds neither's coverage any more."""
    for own in range(first, last):
        end, covered = starts[own], coverage[own]
        for entry in range(starts[own], ends[own]):
            if similarities[entry] > min(covered, coverage[others[entry]]):
                others[end], similarities[end] = others[entry], similarities[entry]
                end += 1
        ends[own] = end
