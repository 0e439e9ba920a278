"""What people write into the cells of a leaderboard, as numbers."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_TAG = re.compile(r"<[^<>]*>")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)\[\]]*\)")  # no bracket inside: the search must go by the length of the text
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(%?)\s*(?:(?:±|\+/-|\(±).*)?")
_MISSING = frozenset(("n/a", "na", "#n/a", "nan", "none", "null", "-", "--", "–", "—", "?", "tbd", ".", "x", "✗"))


@dataclass
class Cells:
    """A column of cells that were read.

    Attributes:
        values: of each cell, NaN where there is none.
        signed: whether a percent sign stood behind it.
        filled: how many cells were not empty and no word for a missing score.
        unreadable: row and text of the cells that are no number.
        words: words for a missing score, counted.
        marked_up: how many cells held HTML or other marks around the number.
    """

    values: NDArray[np.float64]
    signed: NDArray[np.bool_]
    filled: int = 0
    unreadable: list[tuple[int, str]] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    marked_up: int = 0


def plain(text: str) -> str:
    """A text without HTML, links and emphasis around it."""
    bare = html.unescape(_TAG.sub(" ", _LINK.sub(r"\1", text)))
    seen = "".join(letter for letter in bare if letter.isprintable() or letter.isspace())
    return " ".join(seen.split()).strip("*` ")


def read_cells(cells: Sequence[object]) -> Cells:
    """Read cells one by one: numbers, percentages, words for missing scores, and these with marks around them."""
    read = Cells(np.full(len(cells), np.nan), np.zeros(len(cells), np.bool_))
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, (int, float)) and not isinstance(cell, bool):
            read.values[row] = cell
            read.filled += not np.isnan(cell)
        else:
            _read_text(read, row, str(cell))
    return read


def _read_text(read: Cells, row: int, text: str) -> None:
    bare = plain(text)
    if not bare and not _TAG.search(text) and text.strip("*` ") == "":
        return
    if not bare or bare.lower() in _MISSING:
        read.words[bare or text.strip()] += 1
        return
    read.filled += 1
    number = _NUMBER.fullmatch(bare)
    if number is None:
        read.unreadable.append((row, bare))
        return
    read.values[row] = float(number[1])
    read.signed[row] = bool(number[2])
    read.marked_up += number[0].strip() != text.strip() or number[0].rstrip(" %") != number[1]
