"""Text of prompts, made harmless to look at: nothing hidden, nothing turned round, nothing without end."""

from __future__ import annotations

from benchcore import visible_text

_LONGEST_NAME = 160  # characters


def visible(text: str | None) -> str:
    """A text whose control and direction-changing characters are spelled out, so that it shows what it holds."""
    return visible_text.visible((text or "").replace("\r\n", "\n"))


def bounded(text: str, characters: int) -> str:
    """The beginning of a text, and how much more there is."""
    more = len(text) - characters
    return text if more <= 0 else f"{text[:characters]} … ({more:,} more characters)"


def named(text: str | None) -> str:
    """A name, harmless and short enough for a line; of the field's own names none is so long."""
    return bounded(visible(text), _LONGEST_NAME)
