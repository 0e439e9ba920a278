"""Single values as users give them: of the right kind and in range, or refused in a line that names the argument."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from benchcore.errors import UsageError
from benchcore.methods.names import require_known

LARGEST = 1e100  # of any number: squares and quotients of two such stay within double precision
SMALLEST = 1e-100  # of a number that must be positive, likewise


def number(
    value: Any, name: str, *, least: float = -LARGEST, most: float = LARGEST, above: float | None = None
) -> float:
    """A finite real number in a range.

    Args:
        value: as it was given.
        name: of the argument.
        least: the smallest that may be.
        most: the largest that may be.
        above: it must exceed this.

    Raises:
        UsageError: it is none, or out of range.
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        found = _double(value)
        if max(least, -LARGEST) <= found <= min(most, LARGEST) and (above is None or found > above):
            return found
    raise UsageError(f"must be a finite number{_range(least, most, above)}, got {_shown(value)}", where=name)


def positive(value: Any, name: str) -> float:
    """A positive number that has a square and a reciprocal."""
    found = number(value, name, above=0.0)
    if found < SMALLEST:
        raise UsageError(f"must be a number of at least {SMALLEST:g}, got {found:g}", where=name)
    return found


def whole(value: Any, name: str, *, least: int | None = None) -> int:
    """A whole number.

    Args:
        value: as it was given.
        name: of the argument.
        least: the smallest that may be.

    Raises:
        UsageError: it is none, or too small.
    """
    try:
        found = operator.index(value)
    except TypeError:
        found = None
    if found is None or isinstance(value, bool) or (least is not None and found < least):
        bound = "" if least is None else f" of at least {least}"
        raise UsageError(f"must be a whole number{bound}, got {_shown(value)}", where=name)
    return found


def flag(value: Any, name: str) -> bool:
    """True or False, and nothing that merely counts as such.

    Raises:
        UsageError: it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"must be True or False, got {_shown(value)}", where=name)
    return bool(value)


def choice(value: Any, known: Iterable[str], name: str) -> str:
    """One of some names.

    Raises:
        UsageError: it is none of them; shows the nearest.
    """
    if not isinstance(value, str):
        raise UsageError(f"must be one of {', '.join(known)}, got {_shown(value)}", where=name)
    require_known(value, known, name, name)
    return value


def _double(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all doubles
        return math.inf


def _range(least: float, most: float, above: float | None) -> str:
    if most < LARGEST:
        return f" above {above:g} and at most {most:g}" if above is not None else f" from {least:g} to {most:g}"
    if above is not None:
        return f" above {above:g} (and at most {LARGEST:g})"
    if least > -LARGEST:
        return f" of at least {least:g} (and at most {LARGEST:g})"
    return f" of at most {LARGEST:g} in size"


def _shown(value: Any) -> str:
    """What was given, short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}... ({type(value).__name__})"
