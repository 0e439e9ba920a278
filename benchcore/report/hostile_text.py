"""Text of prompts, made harmless to look at: nothing hidden, nothing turned round, nothing without end."""

from __future__ import annotations

import re

# Control characters but line feed and tab, Unicode's line ends, what turns the reading direction of others round, and
# halves of characters, which no file can hold.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_LONGEST_NAME = 160  # characters


def visible(text: str | None) -> str:
    """A text whose control and direction-changing characters are spelled out, so that it shows what it holds."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", (text or "").replace("\r\n", "\n"))


def bounded(text: str, characters: int) -> str:
    """The beginning of a text, and how much more there is."""
    more = len(text) - characters
    return text if more <= 0 else f"{text[:characters]} … ({more:,} more characters)"


def named(text: str | None) -> str:
    """A name, harmless and short enough for a line; of the field's own names none is so long."""
    return bounded(visible(text), _LONGEST_NAME)
