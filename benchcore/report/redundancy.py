"""Which benchmarks ask the same: prompts nearly alike across benchmarks, and benchmarks that lie in one place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import UNIT, Rows

LEAST = 0.95  # centred cosine from which two prompts count as near duplicates
EXACT_BELOW = 12_000  # rows; all pairs of that many take seconds

_BLOCK = 2048


def near_duplicates(
    rows: Rows, groups: NDArray[np.int64], least: float = LEAST, exact_below: int = EXACT_BELOW
) -> NDArray[np.bool_]:
    """Find which rows have a near duplicate in which group.

    All pairs are compared where rows are few. Otherwise a pair is compared where both rows have the same landmark
    among their two nearest, which misses few of the pairs this similar (docs/report.md).

    Args:
        rows: (n, d) as `quantise` makes them.
        groups: (n,) group numbers from 0.
        least: similarity from which on a pair counts.
        exact_below: up to how many rows all pairs are compared.

    Returns:
        (n, groups): whether any other row of the group is that similar to the row.
    """
    found = np.zeros((len(rows), int(groups.max()) + 1), bool)
    for cell in _cells(rows, exact_below):
        order = cell[np.argsort(groups[cell], kind="stable")]
        present, starts = np.unique(groups[order], return_index=True)
        columns = np.ascontiguousarray(rows[order].T)
        for start in range(0, len(order), _BLOCK):
            block = order[start : start + _BLOCK]
            alike = rows[block] @ columns >= least * UNIT
            alike[np.arange(len(block)), start + np.arange(len(block))] = False
            found[np.ix_(block, present)] |= np.logical_or.reduceat(alike, starts, axis=1)
    return found


def _cells(rows: Rows, exact_below: int) -> list[NDArray[np.int64]]:
    """Sets of rows inside which pairs are compared."""
    if len(rows) <= exact_below:
        return [np.arange(len(rows))]
    marks = rows[:: int(np.sqrt(len(rows)) / 2)]  # as many as cost least, the comparing inside cells included
    columns = np.ascontiguousarray(marks.T)
    nearest = np.empty((len(rows), 2), np.int64)
    for start in range(0, len(rows), _BLOCK):
        similarity = rows[start : start + _BLOCK] @ columns
        block, each = nearest[start : start + _BLOCK], np.arange(len(similarity))
        block[:, 0] = similarity.argmax(axis=1)
        similarity[each, block[:, 0]] = -np.inf
        block[:, 1] = similarity.argmax(axis=1)
    cell, row = nearest.ravel(), np.repeat(np.arange(len(rows)), 2)
    order = np.lexsort((row, cell))
    bounds = np.flatnonzero(np.diff(cell[order])) + 1
    return [part for part in np.split(row[order], bounds) if len(part) > 1]


def shares(found: NDArray[np.bool_], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """(groups, groups): the share of a group's rows, row by row of the result, with a near duplicate in each group."""
    counts = np.stack([np.bincount(groups, weights=column, minlength=found.shape[1]) for column in found.T], axis=1)
    sizes = np.bincount(groups, minlength=found.shape[1])
    share: NDArray[np.float64] = counts / np.maximum(sizes, 1)[:, None]
    return share


def places(rows: Rows, groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """(groups, groups): cosine between the means of groups, in [-1, 1]: 1 where they lie around the same place.

    With the cosine as kernel, it is the mean similarity across two groups over the means inside them.
    """
    means = np.stack([rows[groups == group].mean(axis=0, dtype=np.float64) for group in range(int(groups.max()) + 1)])
    lengths = np.linalg.norm(means, axis=1)
    cosines = means @ means.T / np.maximum(np.outer(lengths, lengths), 1e-12)
    return np.asarray(np.clip(np.round(cosines, 9), -1.0, 1.0), np.float64)


def closest_pair(rows: Rows, one: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[int, int, float]:
    """The most similar pair between two sets of rows, with its similarity; the first of equals."""
    similarity = rows[one] @ rows[other].T
    best = int(np.argmax(similarity))
    return int(one[best // len(other)]), int(other[best % len(other)]), float(similarity.flat[best]) / UNIT
