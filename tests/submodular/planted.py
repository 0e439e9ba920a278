"""Small set functions with everything known, as oracles for constraints and optimizers."""

from __future__ import annotations

from typing import Self

import numpy as np


class Coverage:
    """Weighted set cover less a price a candidate: whole numbers, monotone and submodular where nothing has a price.

    With `wobble` a gain is raised by something between 0 and it that depends on the set and the candidate alone, which
    breaks diminishing returns by as much and no more (with infinity: gains that follow no law at all).
    """

    unit = 1.0

    def __init__(
        self, covers: np.ndarray, weights: np.ndarray, prices: np.ndarray | None = None, wobble: float = 0.0
    ) -> None:
        self.covers, self.weights, self.slack = covers, weights, wobble
        self.prices = np.zeros(len(covers)) if prices is None else prices
        self.monotone = not self.prices.any()
        self.picks: frozenset[int] = frozenset()
        self.measured = 0  # how many gains were asked for

    @property
    def n(self) -> int:
        return len(self.covers)

    @property
    def value(self) -> float:
        return self.of(self.picks)

    def of(self, picks: frozenset[int] | tuple[int, ...]) -> float:
        """The value of any set, without the wobble."""
        chosen = sorted(picks)
        return float(self.weights[self.covers[chosen].any(axis=0)].sum() - self.prices[chosen].sum())

    def gains(self, candidates: np.ndarray) -> np.ndarray:
        assert not self.picks.intersection(candidates.tolist()), "asked for the gain of a pick"
        self.measured += len(candidates)
        return np.array([self._gain(int(candidate)) for candidate in candidates], np.float64)

    def tighten(self, bounds: np.ndarray) -> bool:
        return False

    def add(self, candidate: int) -> None:
        assert candidate not in self.picks, "added twice"
        self.picks |= {candidate}

    def fresh(self) -> Self:
        return type(self)(self.covers, self.weights, self.prices, self.slack)

    def total(self) -> float:
        return self.of(tuple(range(self.n)))

    def _gain(self, candidate: int) -> float:
        gain = self.of(self.picks | {candidate}) - self.of(self.picks)
        if not self.slack:
            return gain
        chance = np.random.default_rng([candidate, *sorted(self.picks)]).integers(0, 7)
        return float(chance) if np.isinf(self.slack) else gain + float(chance) / 6 * self.slack


class Tightening(Coverage):
    """The same with bounds that can be lowered for nothing: to one more than the gain."""

    def tighten(self, bounds: np.ndarray) -> bool:
        for candidate in range(self.n):
            if candidate not in self.picks:
                bounds[candidate] = min(bounds[candidate], self._gain(candidate) + 1)
        return True


def coverage(
    seed: int, n: int, *, priced: bool = False, wobble: float = 0.0, kind: type[Coverage] = Coverage
) -> Coverage:
    """A random instance with many equal and some useless candidates."""
    random = np.random.default_rng(seed)
    elements = int(random.integers(1, 12))
    covers = random.random((n, elements)) < random.choice([0.15, 0.4])
    covers[random.integers(0, n, n // 3)] = covers[random.integers(0, n, n // 3)]
    prices = random.integers(0, 3, n).astype(np.float64) if priced else None
    return kind(covers, random.integers(1, 5, elements).astype(np.float64), prices, wobble)
