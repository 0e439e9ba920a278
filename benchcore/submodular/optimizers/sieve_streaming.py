"""Sieve-streaming++: one pass over the candidates, with a few guesses of the optimum side by side."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.record import Record
from benchcore.submodular.optimizers.result import NONE, Greedy

_LEAST = 1e-3
_CHUNK = 256  # candidates that are measured at once


def sieve_streaming(
    objective: Objective,
    available: NDArray[np.bool_],
    further: int,
    epsilon: float,
    include: NDArray[np.int64] = NONE,
) -> Greedy:
    """Pick up to `further` candidates beyond the includes in one pass in index order (Kazemi et al. 2019).

    Within 1/2 - epsilon of the optimum for a monotone submodular objective and cardinality. Each threshold
    (1 + epsilon)^i between max(best value, largest gain) / (2 k) and the largest gain keeps a set of the candidates
    whose gains reached it: O(log(k) / epsilon) states of `objective.fresh()` and O(k / epsilon) picks. What the best
    set leaves of the budget is filled with the first candidates. Prefixes are not nested.

    Candidates come in chunks, at whose start the thresholds are renewed with the largest gain of the chunk: those that
    it shows to be too low are given up a little sooner, and the best value counts a little later.

    Facility location is measured on its whole represented set: for a true stream that has to be a fixed reservoir.

    Args:
        objective: at the empty set; holds all picks at the end.
        available: (n,) bool, candidates that may be picked; includes are not among them.
        further: picks beyond the includes.
        epsilon: from 1e-3 to below 1; the time grows with 1 / epsilon.
        include: candidates that come first, whatever their gains, in this order.

    Raises:
        ValueError: `epsilon` is out of range, or the objective is not monotone.
    """
    if not _LEAST <= epsilon < 1:
        raise ValueError(f"epsilon must be from {_LEAST} to below 1, got {epsilon}")
    if not objective.monotone:
        raise ValueError("sieve-streaming needs a monotone objective: its thresholds mean nothing otherwise")
    pool = np.flatnonzero(available)
    record = Record(objective, include)
    if further > 0:
        sieves = _Sieves(objective, include, further, epsilon)
        for start in range(0, len(pool), _CHUNK):
            sieves.see(pool[start : start + _CHUNK])
        for pick in sieves.best:
            record.put(pick)
        rest = pool[~np.isin(pool, sieves.best)]
        for pick in rest[: further - len(sieves.best)]:
            record.put(int(pick))
    return record.greedy()


class _Sieve:
    """The set of one threshold."""

    def __init__(self, threshold: float, state: Objective) -> None:
        self.threshold, self.state = threshold, state
        self.picks: list[int] = []

    def see(self, candidates: NDArray[np.int64], k: int) -> None:
        """Pick every candidate whose gain reaches the threshold, in order, while there is room."""
        while candidates.size and len(self.picks) < k:
            reached = np.flatnonzero(self.state.gains(candidates) >= self.threshold)
            if not reached.size:
                return
            pick = int(candidates[reached[0]])
            self.state.add(pick)
            self.picks.append(pick)
            candidates = candidates[reached[0] + 1 :]


class _Sieves:
    """The sets of all thresholds that may still matter, and the best set so far."""

    def __init__(self, objective: Objective, include: NDArray[np.int64], k: int, epsilon: float) -> None:
        self._objective, self._include, self._k, self._epsilon = objective, include, k, epsilon
        self._empty = self._new_state()
        self._start = self._empty.value  # of the includes alone
        self._largest = 0.0  # gain of one candidate
        self._sieves: dict[int, _Sieve] = {}
        self._best_value = 0.0
        self.best: list[int] = []

    def see(self, chunk: NDArray[np.int64]) -> None:
        """Let every set take what it wants of the next candidates."""
        largest = np.maximum.accumulate(np.maximum(self._empty.gains(chunk), self._largest))
        self._largest = float(largest[-1])
        if self._largest <= 0:
            return
        self._renew()
        for sieve in self._sieves.values():
            # A set begins with the candidate whose gain first made its threshold possible.
            born = int(np.searchsorted(largest, sieve.threshold))
            sieve.see(chunk[born:], self._k)
            value = sieve.state.value - self._start
            if value > self._best_value:
                self._best_value, self.best = value, list(sieve.picks)

    def _renew(self) -> None:
        lowest = max(self._best_value, self._largest) / (2 * self._k)
        step = math.log1p(self._epsilon)
        first = math.ceil(math.log(lowest / (1 + self._epsilon)) / step)
        last = math.floor(math.log(self._largest) / step)
        kept = {power: sieve for power, sieve in self._sieves.items() if power >= first}
        for power in range(first, last + 1):
            if power not in kept:
                kept[power] = _Sieve((1 + self._epsilon) ** power, self._new_state())
        self._sieves = kept

    def _new_state(self) -> Objective:
        state = self._objective.fresh()
        for candidate in self._include:
            state.add(int(candidate))
        return state
