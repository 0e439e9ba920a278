"""One value a row, as users give it: texts (ids, groups) and numbers (masses, costs), each told where it is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError

_LONGEST = 1000  # characters: an array takes four bytes a row for each of the longest text's


def texts(values: Any, n: int, name: str) -> NDArray[np.str_]:
    """A text a row, each value written by itself: 1 stays `1` beside 2.5.

    Args:
        values: an array, a series, a list, ...
        n: rows.
        name: of the argument.

    Raises:
        UsageError: there are not n, one is missing, is no single value, is too long or ends in a NUL character.
    """
    if isinstance(values, str | bytes | Mapping | AbstractSet):
        raise UsageError(f"expected a list of one value a row, got a {type(values).__name__}", where=name)
    array = _unmasked(values, name) if hasattr(values, "__array__") else None
    if array is not None and array.dtype.kind in "iubU" and array.dtype.itemsize <= 4 * _LONGEST:
        _require_length(array.shape, n, name)
        return array.astype(np.str_)
    listed = several(values, name) if array is None else list(array)
    _require_length((len(listed),) if array is None else array.shape, n, name)
    return np.array([_text(value, row, name) for row, value in enumerate(listed)], np.str_)


def text(value: Any) -> str:
    """A single value as texts are written."""
    return value.decode() if isinstance(value, bytes) else str(value)


def numbers(values: Any, n: int, name: str) -> NDArray[np.float64]:
    """A number a row.

    Raises:
        UsageError: there are not n, or one is no real number. NaN and infinity are not looked for.
    """
    array = _unmasked(values if hasattr(values, "__array__") else several(values, name), name)
    if array.dtype.kind == "O" and array.ndim == 1:
        array = _doubles(array, name)
    if array.dtype.kind not in "fiub":
        raise UsageError("expected numbers, one a row", where=name)
    _require_length(array.shape, n, name)
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


def several(values: Any, name: str) -> list[Any]:
    """The members of what can be gone through once.

    Raises:
        UsageError: it is a text or no collection.
    """
    if isinstance(values, str | bytes):
        raise UsageError(f"expected several values, got the text {text(values)!r}", where=name, mend="Give a list.")
    if not isinstance(values, Iterable) or (hasattr(values, "ndim") and values.ndim == 0):
        raise UsageError(f"expected several values, got {values!r}", where=name, mend="Give a list.")
    return list(values)


def _unmasked(values: Any, name: str) -> NDArray[Any]:
    if np.ma.is_masked(values):
        raise UsageError("has masked values", where=name, mend="Fill them or leave out these rows.")
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise UsageError("expected one value a row", where=name) from None


def _text(value: Any, row: int, name: str) -> str:
    written = value if isinstance(value, str) else _written(value, row, name)
    if len(written) > _LONGEST:
        raise UsageError(
            f"row {row} has a name of {len(written):,} characters, more than {_LONGEST:,}",
            where=name,
            mend="Give short names, such as hashes.",
        )
    if written.endswith("\0"):
        raise UsageError(f"row {row} has a name that ends in a NUL character: {written[-60:]!r}", where=name)
    return written


def _written(value: Any, row: int, name: str) -> str:
    if isinstance(value, list | tuple | dict | set | np.ndarray):
        raise UsageError(f"row {row} has no single value but a {type(value).__name__}", where=name)
    try:
        written = text(value)
    except UnicodeDecodeError:
        raise UsageError(f"row {row} has bytes that are not UTF-8", where=name) from None
    if written in ("None", "nan", "<NA>", "NaT"):  # of what is no text
        raise UsageError(f"row {row} has no value ({written})", where=name)
    return written


def _doubles(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    found = np.zeros(len(array))
    for row, value in enumerate(array):
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            found[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"expected numbers, row {row} has {value!r}", where=name) from None
    return found


def _require_length(shape: tuple[int, ...], n: int, name: str) -> None:
    if shape != (n,):
        raise UsageError(f"expected one value a row ({n}), got {shape}", where=name)
