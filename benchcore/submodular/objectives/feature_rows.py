"""Rows of not negative features, dense or sparse, as they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ENTRIES = 2**18  # entries of one step: a few megabytes, and what an interrupt waits for


class FeatureRows:
    """Entries of chosen rows, in ascending order of features.

    A sparse matrix is copied only if its rows are out of order or name a feature twice.

    Args:
        features: (n, f) an array or a SciPy sparse matrix.

    Attributes:
        n: rows.
        width: features.
        entries: stored numbers.
        largest: the largest of them.
        at_once: rows to work on in one step.
        dense, sparse: the matrix; one of them is None.

    Raises:
        ValueError: not a matrix, or some features are negative or not finite; names the rows.
    """

    def __init__(self, features: Any) -> None:
        self.dense: NDArray[Any] | None = None
        self.sparse: Any = None
        if hasattr(features, "tocsr"):
            self.sparse = _ordered(features)
            self.entries = int(self.sparse.nnz)
        else:
            self.dense = np.asarray(features)
            if self.dense.ndim != 2:
                raise ValueError(f"features must be a matrix of a row for each candidate, got shape {self.dense.shape}")
            self.entries = self.dense.size
        shape = self.sparse.shape if self.dense is None else self.dense.shape
        self.n, self.width = int(shape[0]), int(shape[1])
        if self.width == 0:
            raise ValueError("features must have at least one column")
        self.at_once = max(1, _ENTRIES * self.n // max(1, self.entries))  # rows of one step
        self.largest = self._checked()

    def entries_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """Entries of some rows: the position in `rows`, the feature, the amount."""
        if self.dense is not None:
            block = self.dense[rows].astype(np.float64)
            place, feature = np.nonzero(block)
            return place, feature, block[place, feature]
        starts = self.sparse.indptr[rows].astype(np.int64)
        lengths = self.sparse.indptr[rows + 1] - starts
        place = np.repeat(np.arange(len(rows)), lengths)
        entry = np.arange(len(place)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return place, self.sparse.indices[entry], self.sparse.data[entry].astype(np.float64)

    def _checked(self) -> float:
        """The largest amount."""
        amounts = self.dense if self.dense is not None else self.sparse.data
        step = self.at_once if self.sparse is None else _ENTRIES
        largest = 0.0
        for start in range(0, len(amounts), step):
            part = amounts[start : start + step]
            least, most = np.min(part, initial=0.0), np.max(part, initial=0.0)  # NaN passes through
            if not (least >= 0 and most < np.inf):
                self._refuse(
                    start + np.flatnonzero(~((part >= 0) & (part < np.inf)).reshape(len(part), -1).all(axis=1))
                )
            largest = max(largest, float(most))
        return largest

    def _refuse(self, wrong: NDArray[np.int64]) -> None:
        rows = wrong if self.sparse is None else np.unique(np.searchsorted(self.sparse.indptr, wrong, side="right") - 1)
        named = ", ".join(str(row) for row in rows[:5])
        raise ValueError(f"features must be finite and not negative; some are not in rows {named}")


def _ordered(features: Any) -> Any:
    """In compressed rows, with ascending features."""
    from scipy import sparse

    rows = sparse.csr_array(features)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
