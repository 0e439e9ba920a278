"""Text from outside, made harmless to look at: what would steer a terminal or turn its line round is spelled out."""

from __future__ import annotations

import re

# Control characters but line feed and tab, Unicode's line ends, what turns the reading direction of others round, and
# halves of characters, which no file can hold.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """A text whose control and direction-changing characters are spelled out, so that it shows what it holds."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
