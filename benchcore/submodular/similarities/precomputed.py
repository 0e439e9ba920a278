"""Similarities that somebody else computed: a dense or a sparse matrix, read in blocks as whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.similarities.similarity import TOP, Where

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

_ROWS = 1024  # rows, and columns, that are examined at a time


class DenseSimilarity:
    """matrix[candidate, represented], scaled by a power of two and rounded to whole numbers when it is read.

    Whole numbers up to 2^24 and their halves, quarters, ... stay exact; others keep at least 23 bits. The matrix is
    neither copied nor written to: it may be of any real type and order, read-only or memory-mapped.

    Args:
        matrix: (m, n) finite.
        same: whether rows and columns stand for the same (m = n), in the same order.

    Raises:
        ValueError: the matrix has no entries, is not square where that is asked, or an entry is not finite; names the
            first.
    """

    def __init__(self, matrix: NDArray[Any], *, same: bool = True) -> None:
        _require_matrix(matrix, same)
        self._matrix = matrix
        least, largest = _extremes(matrix)
        self.signed = least < 0
        self.unit = _unit(max(-least, largest))
        self._noisy = False
        self.symmetric = same and self._is_symmetric()

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return int(self._matrix.shape[0])

    @property
    def represented(self) -> int:
        """How many represented rows there are."""
        return int(self._matrix.shape[1])

    def block(self, candidates: Where, represented: Where) -> NDArray[np.float32]:
        """The similarities of some candidates to some represented rows."""
        block = self._whole(candidates, represented)
        if self._noisy:
            np.maximum(block, self._whole(represented, candidates).T, out=block)
        return block

    def diagonal(self) -> NDArray[np.float32]:
        """(candidates,) similarity of each to itself."""
        diagonal: NDArray[np.float32] = np.rint(np.diagonal(self._matrix) * self._factor()).astype(np.float32)
        return diagonal

    def _whole(self, rows: Where, columns: Where) -> NDArray[np.float32]:
        if isinstance(rows, slice) or isinstance(columns, slice):
            part = self._matrix[rows, columns]
        else:
            part = self._matrix[np.ix_(rows, columns)]
        block: NDArray[np.float32] = np.empty(part.shape, np.float32)
        for start in range(0, len(part), 64):  # so that what is computed in double precision stays small
            some = slice(start, start + 64)
            block[some] = np.rint(part[some] * self._factor())
        return block

    def _factor(self) -> Any:
        """The unit in single precision where that is the matrix's and holds the products, else in double."""
        single = self._matrix.dtype == np.float32 and self.unit < 2.0**100
        return np.float32(self.unit) if single else np.float64(self.unit)

    def _is_symmetric(self) -> bool:
        """Whether it equals its transpose, but for what rounding to whole numbers can do to equal numbers."""
        for start in range(0, self.candidates, _ROWS):
            rows = slice(start, start + _ROWS)
            for left in range(start, self.candidates, _ROWS):
                columns = slice(left, left + _ROWS)
                difference = np.abs(self._whole(rows, columns) - self._whole(columns, rows).T).max()
                if difference > 1:
                    return False
                self._noisy |= bool(difference)
        return True


class SparseSimilarity:
    """matrix[candidate, represented] of a sparse matrix; what is not stored is 0, a row's similarity to itself too.

    Args:
        matrix: (m, n) of SciPy, in any format; scaled and rounded as in `DenseSimilarity`.
        same: whether rows and columns stand for the same, in the same order.

    Attributes:
        matrix: the whole numbers, in rows, sorted, without stored zeros.

    Raises:
        ValueError: as `DenseSimilarity`.
    """

    def __init__(self, matrix: csr_array | csr_matrix, *, same: bool = True) -> None:
        from scipy.sparse import csr_array

        _require_matrix(matrix, same)
        self.matrix = csr_array(matrix, dtype=np.float64, copy=True)
        self.matrix.sum_duplicates()
        stored = self.matrix.data
        if not np.isfinite(stored).all():
            place = int(np.argmin(np.isfinite(stored)))
            row = int(np.searchsorted(self.matrix.indptr, place, side="right")) - 1
            raise ValueError(_not_finite(row, int(self.matrix.indices[place])))
        self.unit = _unit(float(np.abs(stored).max(initial=0.0)))
        self.matrix.data = np.rint(stored * self.unit).astype(np.float32)
        self.matrix.eliminate_zeros()
        self.signed = bool((self.matrix.data < 0).any())
        self.symmetric = same and self._is_symmetric()

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return int(self.matrix.shape[0])

    @property
    def represented(self) -> int:
        """How many represented rows there are."""
        return int(self.matrix.shape[1])

    def block(self, candidates: Where, represented: Where) -> NDArray[np.float32]:
        """The similarities of some candidates to some represented rows."""
        rows = self.matrix[candidates]
        whole = isinstance(represented, slice) and represented.indices(self.represented) == (0, self.represented, 1)
        block: NDArray[np.float32] = (rows if whole else rows[:, represented]).toarray()
        return block

    def diagonal(self) -> NDArray[np.float32]:
        """(candidates,) similarity of each to itself."""
        diagonal: NDArray[np.float32] = self.matrix.diagonal()
        return diagonal

    def _is_symmetric(self) -> bool:
        """As that of `DenseSimilarity`; then makes it exactly symmetric."""
        flipped = self.matrix.T.tocsr()
        difference = np.abs((self.matrix - flipped).data).max(initial=0.0)
        if 0 < difference <= 1:
            self.matrix = self.matrix.maximum(flipped).tocsr()
        return bool(difference <= 1)


def _require_matrix(matrix: Any, same: bool) -> None:
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "fiub":
        raise ValueError(f"a kernel is a matrix of real numbers, got {matrix.dtype} of shape {matrix.shape}")
    if same and matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a kernel of rows with themselves is square, got shape {matrix.shape}")


def _extremes(matrix: NDArray[Any]) -> tuple[float, float]:
    """The smallest and the largest entry, 0 among them."""
    least, largest = 0.0, 0.0
    for start in range(0, len(matrix), _ROWS):
        rows = matrix[start : start + _ROWS]
        lower, upper = float(rows.min()), float(rows.max())  # NaN propagates
        if not (np.isfinite(lower) and np.isfinite(upper)):
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(_not_finite(start + int(row), int(column)))
        least, largest = min(least, lower), max(largest, upper)
    return least, largest


def _not_finite(row: int, column: int) -> str:
    return f"the kernel is not finite at row {row}, column {column}"


def _unit(magnitude: float) -> float:
    """The largest power of two that leaves no number above TOP; 1 where all are zero."""
    if magnitude == 0:
        return 1.0
    mantissa, exponent = np.frexp(magnitude)
    return float(np.ldexp(float(TOP), min(-int(exponent) + int(mantissa == 0.5), 900)))
