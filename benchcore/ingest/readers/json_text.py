"""Parsing JSON as it is in the wild."""

from __future__ import annotations

import json
import math
from typing import Any


class NotJson(ValueError):
    """The text is not JSON; the message says where."""


def parse(text: str, unique_keys: bool = False) -> Any:
    """Parse one JSON value; NaN and infinities, which are no JSON but stand in many files, become None.

    The standard library's parser is used since it keeps integers of any size; faster ones round them.

    Args:
        text: the JSON text.
        unique_keys: refuse an object that has a key twice, of which a plain parser keeps the last.

    Raises:
        NotJson: the text is no JSON, nested too deeply, or has a key twice where that is refused.
    """
    try:
        return (_STRICT_DECODER if unique_keys else _DECODER).decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotJson("not JSON that can be read: nested too deeply") from None
    except NotJson:
        raise
    except ValueError as error:  # a number of more than 4300 digits
        raise NotJson(f"not JSON that can be read: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise NotJson(f"the key '{twice}' stands twice in one object")
    return made


def _finite(digits: str) -> float | None:
    number = float(digits)  # infinite where there are too many of them, as in 1e400
    return number if math.isfinite(number) else None


_STRICT_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite, object_pairs_hook=_unique)
_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)
