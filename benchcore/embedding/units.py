"""How texts are cut into units of work and units into batches: by their content alone, never by who works on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.registry.identity import digest

_BYTES_PER_TOKEN = 4
_LONGEST_SEEN = 512
_MOST_BYTES = 16 * 1024**2
_MOST_TEXTS = 2048
_MOST_ROWS = 512


@dataclass(frozen=True)
class Unit:
    """Texts that are encoded together, with one output file.

    Attributes:
        unit_id: names its texts, in their order.
        rows: their row numbers in the list that the units were formed from.
    """

    unit_id: str
    rows: tuple[int, ...]


def unit_id(hashes: Sequence[str]) -> str:
    """Name a unit by its texts' hashes, in their order."""
    return digest("unit", list(hashes))


def form_units(hashes: Sequence[str], sizes: Sequence[int], max_length: int | None, tokens: int) -> list[Unit]:
    """Cut texts into units of about equal work, each of texts of similar length.

    Args:
        hashes: distinct text hashes.
        sizes: bytes of each text.
        max_length: tokens of a text that the encoder sees at most.
        tokens: estimated tokens in a unit.

    Returns:
        The units, ordered by their names (at random as far as length goes, so that a rate measured early holds);
        the same texts give the same units whatever order they come in.
    """
    longest = max_length or _LONGEST_SEEN
    units: list[Unit] = []
    rows: list[int] = []
    work = weight = 0

    def close() -> None:
        nonlocal rows, work, weight
        if rows:
            units.append(Unit(unit_id([hashes[row] for row in rows]), tuple(rows)))
        rows, work, weight = [], 0, 0

    for row in sorted(range(len(hashes)), key=lambda row: (sizes[row], hashes[row])):
        cost = min(longest, 2 + sizes[row] // _BYTES_PER_TOKEN)
        if work + cost > tokens or weight + sizes[row] > _MOST_BYTES or len(rows) == _MOST_TEXTS:
            close()
        rows.append(row)
        work, weight = work + cost, weight + sizes[row]
    close()
    return sorted(units, key=lambda unit: unit.unit_id)


def batches(lengths: NDArray[np.int64], tokens: int) -> Iterator[list[int]]:
    """Cut rows into batches by length, shortest first, so that padding is small.

    Args:
        lengths: (n,) tokens of each row that the encoder sees.
        tokens: most tokens in a batch, padding included; a longer row is a batch of its own.
    """
    rows: list[int] = []
    for row in np.argsort(lengths, kind="stable").tolist():
        if rows and (lengths[row] * (len(rows) + 1) > tokens or len(rows) == _MOST_ROWS):
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows
