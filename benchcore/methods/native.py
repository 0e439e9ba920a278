"""Arrays as users have them, brought to what the core computes with: plain numbers in the machine's own byte order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.methods.arguments import LARGEST, SMALLEST

_ROWS = 4096  # rows that are looked at a time
_SINGLE = np.finfo(np.float32)


def as_matrix(data: Any, where: str) -> Any:
    """An array or a sparse matrix of rows of real numbers; sparse ones in compressed rows.

    What is in the machine's byte order and at most double precision is not copied.

    Raises:
        UsageError: it is no such array.
    """
    if np.ma.is_masked(data):
        raise UsageError("has masked values", where=where, mend="Fill them or leave out these rows.")
    try:
        matrix = data.tocsr() if is_sparse(data) else np.asarray(data)
    except (TypeError, ValueError):  # such as lists of several lengths
        what = f"expected rows of numbers, got a {type(data).__name__} that is no array"
        raise UsageError(what, where=where, mend="Give rows of the same length.") from None
    if matrix.ndim == 0:
        raise UsageError(f"expected rows of numbers, got a {type(data).__name__}", where=where, mend="Give an array.")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise UsageError(f"expected rows of numbers, got an array of shape {matrix.shape}", where=where)
    if matrix.dtype.kind not in "fiub":
        raise UsageError(f"expected real numbers, got {matrix.dtype}", where=where)
    return _native_sparse(matrix) if is_sparse(matrix) else _native(matrix)


def is_sparse(data: Any) -> bool:
    """Whether it is a SciPy sparse matrix; without importing SciPy."""
    return hasattr(data, "tocsr")


def require_single(data: Any, where: str, ids: Any, *, each: bool) -> None:
    """Refuse rows whose numbers single precision has no digits for.

    Args:
        data: (n, d) real numbers.
        where: the argument.
        ids: (n,) names for errors.
        each: whether each row is brought to length 1, so that each has to have such digits; otherwise all together.

    Raises:
        UsageError: numbers are too large or too small; names the rows. NaN and infinity are not looked at.
    """
    if data.dtype.kind != "f" or data.dtype.itemsize < 4:
        return
    largest = np.concatenate([_largest(data[rows]) for rows in _slices(len(data))])
    wrong = np.isfinite(largest) & (largest > float(_SINGLE.max))
    small = (largest > 0) & (largest < float(_SINGLE.tiny))
    if each or (small.any() and not (largest >= float(_SINGLE.tiny)).any()):
        wrong |= small
    if wrong.any():
        named = ", ".join(str(ids[int(row)]) for row in np.flatnonzero(wrong)[:5])
        raise UsageError(
            f"the largest numbers of {int(wrong.sum())} of {len(data)} vectors lie outside of single precision "
            f"({_SINGLE.tiny:.0e} to {_SINGLE.max:.0e}): {named}",
            where=where,
            mend="Multiply all vectors by the same number.",
        )


def require_magnitude(data: Any, where: str) -> None:
    """Refuse numbers so large or small that sums and squares of them leave double precision.

    Args:
        data: an array or a sparse matrix.
        where: the argument.

    Raises:
        UsageError: with the largest number.
    """
    stored = data.data if is_sparse(data) else data
    if stored.dtype.kind != "f":
        return
    largest = 0.0
    for rows in _slices(len(stored)):
        part = stored[rows]
        largest = float(np.maximum(largest, np.maximum(part.max(initial=0.0), -part.min(initial=0.0))))  # NaN stays
    if np.isfinite(largest) and largest and not SMALLEST <= largest <= LARGEST:
        raise UsageError(
            f"the largest number is {largest:g}, outside of {SMALLEST:g} to {LARGEST:g}",
            where=where,
            mend="Multiply all by the same number.",
        )


def _largest(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    largest: NDArray[np.floating] = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    return largest


def _slices(n: int) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, n, _ROWS))


def _native(array: NDArray[Any]) -> NDArray[Any]:
    wanted = _dtype(array.dtype, least=1)
    with np.errstate(over="ignore"):  # beyond double precision is infinity, which is refused by name
        return array if array.dtype == wanted and array.dtype.isnative else array.astype(wanted)


def _native_sparse(matrix: Any) -> Any:
    """Compiled loops read its three arrays as they are."""
    wanted = _dtype(matrix.dtype, least=4)
    arrays = matrix.data, matrix.indices, matrix.indptr
    native = (wanted, *(array.dtype.newbyteorder("=") for array in arrays[1:]))
    if all(array.dtype == dtype and array.dtype.isnative for array, dtype in zip(arrays, native, strict=True)):
        return matrix
    return type(matrix)(tuple(a.astype(d) for a, d in zip(arrays, native, strict=True)), shape=matrix.shape)


def _dtype(dtype: np.dtype[Any], least: int) -> np.dtype[Any]:
    """The nearest type of at least so many bytes, if it is of floating point, and at most eight."""
    if dtype.kind == "f" and not least <= dtype.itemsize <= 8:
        return np.dtype(np.float32 if dtype.itemsize < least else np.float64)
    return np.dtype(np.uint8) if dtype.kind == "b" and least > 1 else dtype.newbyteorder("=")
