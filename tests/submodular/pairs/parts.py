"""An objective from its definition, and the same added up from parts, as optimizers see it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchcore.submodular.pairs.candidate_gains import CandidateGains


class Whole:
    """The objective from its definition: gains of all candidates after some picks."""

    value = 0.0

    def __init__(self, gains: Callable[[list[int]], np.ndarray]) -> None:
        self._gains, self.picks = gains, []

    def gains(self, candidates: np.ndarray) -> np.ndarray:
        return self._gains(self.picks)[candidates]

    def add(self, candidate: int) -> None:
        self.picks.append(candidate)


class Parts:
    """The same from parts, as a driver adds up its workers' answers."""

    slack, value = 0.0, 0.0

    def __init__(self, candidates: int, parts: list[CandidateGains]) -> None:
        self.n, self.parts = candidates, parts

    def gains(self, candidates: np.ndarray) -> np.ndarray:
        return np.sum([part.gains(candidates) for part in self.parts], axis=0)

    def tighten(self, bounds: np.ndarray) -> bool:
        np.minimum(bounds, np.sum([part.bounds() for part in self.parts], axis=0), out=bounds)
        return True

    def add(self, candidate: int) -> None:
        for part in self.parts:
            part.add(np.array([candidate]))
