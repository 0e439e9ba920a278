"""Parsing JSON as it is in the wild."""

from __future__ import annotations

import json
from typing import Any


class NotJson(ValueError):
    """The text is not JSON; the message says where."""


def parse(text: str) -> Any:
    """Parse one JSON value; NaN and infinities, which are no JSON but stand in many files, become None.

    The standard library's parser is used since it keeps integers of any size; faster ones round them.

    Raises:
        NotJson: the text is no JSON, or nested too deeply.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotJson("not JSON that can be read: nested too deeply") from None
    except ValueError as error:  # a number of more than 4300 digits
        raise NotJson(f"not JSON that can be read: {error}") from None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
