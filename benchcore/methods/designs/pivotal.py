"""The pivotal method: probabilities fight in pairs until each is 0 or 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.designs.chances import Chances
from benchcore.methods.problem import Problem

_SETTLED = 1e-9
_NEIGHBOURS = 64
_BLOCK = 1024

Opponent = Callable[[int, "Undecided"], int]


def draw_inside_groups(
    problem: Problem,
    chances: Chances,
    generator: np.random.Generator,
    coordinates: NDArray[np.float32] | None = None,
) -> NDArray[np.int64]:
    """Draw in each group of `problem.turns` as many as its probabilities add up to, in random order.

    Args:
        chances: (n,) adding up to a whole number in each group.
        coordinates: (n, d) where near items are not to be drawn together; None for no such wish.
    """
    drawn, turns = [], problem.turns
    for turn in range(len(problem.given)):
        members = np.flatnonzero((chances > 0) & (turns == turn))
        near = None if coordinates is None or not members.size else coordinates[members]
        drawn.append(members[pivotal(chances[members], generator, near)])
    return generator.permutation(np.concatenate(drawn))


def pivotal(
    chances: Chances, generator: np.random.Generator, coordinates: NDArray[np.float32] | None = None
) -> NDArray[np.bool_]:
    """Draw a sample of fixed size with given inclusion probabilities (Deville and Tille 1998).

    With coordinates an item fights its nearest undecided neighbour, so that samples are spread over the space: the
    local pivotal method 2 of Grafstrom, Lundstrom and Schelin 2012.

    Args:
        chances: (m,) in [0, 1], adding up to a whole number.
        coordinates: (m, d), or None for opponents at random.

    Returns:
        (m,) whether each is drawn.
    """
    left = chances.astype(np.float64)
    undecided = Undecided(np.flatnonzero((left > _SETTLED) & (left < 1 - _SETTLED)), len(left))
    opponent: Opponent = _at_random(generator) if coordinates is None else _Nearest(coordinates)
    while len(undecided) > 1:
        one = undecided.at(int(generator.integers(len(undecided))))
        other = opponent(one, undecided)
        left[one], left[other] = _fight(float(left[one]), float(left[other]), float(generator.random()))
        for item in (one, other):
            if not _SETTLED < left[item] < 1 - _SETTLED:
                undecided.remove(item)
    drawn: NDArray[np.bool_] = left > 0.5
    return drawn


def _fight(one: float, other: float, chance: float) -> tuple[float, float]:
    """Move as much probability as possible from one to the other, such that neither's expectation changes."""
    total = one + other
    if total < 1:
        return (0.0, total) if chance < other / total else (total, 0.0)
    return (1.0, total - 1) if chance < (1 - other) / (2 - total) else (total - 1, 1.0)


class Undecided:
    """Items that are neither drawn nor passed over; taken out and drawn from in constant time."""

    def __init__(self, items: NDArray[np.int64], n: int) -> None:
        self._items, self._size = items.copy(), len(items)
        self._place = np.full(n, -1, np.int64)
        self._place[items] = np.arange(len(items))
        self.among = np.zeros(n, bool)
        self.among[items] = True

    def __len__(self) -> int:
        """How many there are."""
        return self._size

    def at(self, place: int) -> int:
        """The item at some place."""
        return int(self._items[place])

    def all(self) -> NDArray[np.int64]:
        """All of them, in no order."""
        return self._items[: self._size]

    def remove(self, item: int) -> None:
        """Take one out."""
        self._size -= 1
        place, last = self._place[item], self._items[self._size]
        self._items[place], self._place[last] = last, place
        self.among[item] = False


def _at_random(generator: np.random.Generator) -> Opponent:
    def opponent(one: int, undecided: Undecided) -> int:
        other = undecided.at(int(generator.integers(len(undecided) - 1)))
        return undecided.at(len(undecided) - 1) if other == one else other

    return opponent


class _Nearest:
    """The nearest undecided item: from a list of neighbours as long as one of them is undecided, then from all."""

    def __init__(self, coordinates: NDArray[np.float32]) -> None:
        self._coordinates = coordinates
        self._squares = np.einsum("ij,ij->i", coordinates, coordinates)
        self._lists = self._neighbours(min(_NEIGHBOURS, len(coordinates) - 1))

    def __call__(self, one: int, undecided: Undecided) -> int:
        near = self._lists[one]
        free = undecided.among[near]
        if free.any():
            return int(near[np.argmax(free)])
        others = np.sort(undecided.all())
        others = others[others != one]
        distances = self._squares[others] - 2 * (self._coordinates[others] @ self._coordinates[one])
        return int(others[np.argmin(distances)])

    def _neighbours(self, size: int) -> NDArray[np.int64]:
        n = len(self._coordinates)
        lists = np.zeros((n, size), np.int64)
        if size < 1:
            return lists
        for start in range(0, n, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, n))
            distances = self._squares - 2 * (self._coordinates[rows] @ self._coordinates.T)
            distances[np.arange(len(rows)), rows] = np.inf
            near = np.sort(np.argpartition(distances, size - 1, axis=1)[:, :size], axis=1)
            ranked = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
            lists[rows] = np.take_along_axis(near, ranked, axis=1)
        return lists
