"""Remarks of one kind about many models, cut to a few."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 5


def shortened(remarks: Sequence[str]) -> list[str]:
    """The first few, and how many models more they are true of."""
    rest = len(remarks) - _SHOWN
    return [*remarks[:_SHOWN], *([f"and {rest:,} more models likewise"] if rest > 0 else [])]
