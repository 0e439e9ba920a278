"""How far from optimal a selection over shards can be at most: from all pairs of prompts, or from a sample of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.crew import Crew
from benchcore.distributed.merge import rows_of
from benchcore.distributed.on_actors.certificate import Sample, gains_of_shard, sampled_gains
from benchcore.distributed.on_actors.held import Compact
from benchcore.distributed.on_actors.query import Query
from benchcore.distributed.plan import SAMPLED_ROWS, Plan
from benchcore.progress import progress
from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.quantise import UNIT
from benchcore.submodular.similarities.window import Window

CONFIDENCE = 0.99  # of a sampled bound

_KINDS = ("none", "sampled", "exact")  # each says more than the one before
_SHARE_BITS = 36  # fixed-point bits of a share of what a row could gain; 2^16 sampled rows add up below 2^53


def says_more(kind: str, known: Mapping[str, Any]) -> bool:
    """Whether a certificate of that kind says more than a known one, which is empty where there is none."""
    return _KINDS.index(kind) > _KINDS.index(known["kind"] if known else "none")


@dataclass(frozen=True, eq=False)
class Certifying:
    """What a certificate is about.

    Attributes:
        crew: workers that hold the shards.
        plan: the shards, and which certificate.
        centre: shared reference to the centre.
        picks: (k, d) quantised rows.
        mass: (n,) whole numbers.
        coverage: (n,) whole-number similarity of each row to its nearest pick.
        query: bounds what coverage counts, as `window` says of each row; None without one.
        constraint: at its start; on what may be picked beyond the includes.
        seed: of the sample.
    """

    crew: Crew
    plan: Plan
    centre: Any
    picks: Compact
    mass: NDArray[np.float64]
    coverage: NDArray[np.float32]
    constraint: Constraint
    seed: int
    query: Query | None = None
    window: Window | None = None

    def find(self) -> dict[str, Any] | None:
        """`upper_bound` on the value of any feasible set, `ratio` of the picks' value to it, and `kind`.

        A sampled one has its `confidence` and `rows`, too. None where the plan has no certificate.
        """
        if self.plan.certificate == "none":
            return None
        value, scale = self.value, float(self.mass.sum()) * UNIT
        sampled = self.plan.certificate == "sampled"
        bound = value + (self._sampled() if sampled else self._exact())
        found = {"upper_bound": bound / scale, "ratio": value / bound if bound > 0 else 1.0, "kind": "exact"}
        return {**found, "kind": "sampled", "confidence": CONFIDENCE, "rows": SAMPLED_ROWS} if sampled else found

    @property
    def value(self) -> float:
        """The objective at the picks, a whole number."""
        low = 0.0 if self.window is None else self.window.low
        return float(self.mass @ (self._counted - low).astype(np.float64))

    @property
    def _counted(self) -> NDArray[np.float32]:
        return self.coverage if self.window is None else self.window.clip(self.coverage)

    def _exact(self) -> float:
        """The largest feasible sum of what single prompts would still gain, by a pass over all pairs."""
        gains, picks = np.zeros(len(self.mass)), self.crew.share(self.picks)
        query = None if self.query is None else self.crew.share(self.query)
        with progress("certificate", len(gains), "prompts") as advance:
            for number, shard in enumerate(self.plan.shards):
                parts = self.crew.ask_all_about(number, gains_of_shard, self.centre, picks, query)
                gains[shard.positions] = np.sum(parts, axis=0)
                advance(len(shard.positions))
        return self.constraint.best_sum(gains)

    def _sampled(self) -> float:
        """An upper confidence bound on what the optimum gains over the picks, by a pass over sampled rows."""
        high = None if self.window is None else self.window.high
        drawn = Drawn.of(self.mass, self._counted, SAMPLED_ROWS, self.seed, high)
        rows = rows_of(self.crew, self.centre, drawn.rows)
        ceiling = None if high is None else high[drawn.rows]
        sample = self.crew.share(Sample(rows, self._counted[drawn.rows], ceiling, drawn.weights))
        calls = {
            number: self.crew.begin(number, sampled_gains, self.centre, sample)
            for number in range(len(self.plan.shards))
        }
        gains = np.zeros(len(self.mass))
        with progress("certificate", len(gains), "prompts") as advance:
            for number, found in self.crew.finished(calls):
                positions = self.plan.shards[number].positions
                gains[positions] = found
                advance(len(positions))
        return drawn.limit(self.constraint.best_sum(gains), 1 - CONFIDENCE)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn to bound what the optimum gains over some picks.

    With mass m_i, coverage c_i and room r_i = UNIT - c_i, the optimum S* is worth at most sum_i m_i D_i more than the
    picks, where 0 <= D_i = max_{j in S*} (s_ij - c_i)+ <= r_i. A row drawn with probability m_i r_i / R, where
    R = sum_i m_i r_i, has X = D / r in [0, 1] of expectation sum_i m_i D_i / R. S* was there before the sample, so a
    bound for one expectation suffices (`upper_limit`). The mean of X over the sample cannot be seen, but is at most the
    mean of sum_{j in S*} (s_ij - c_i)+ / r_i, and this at most the best feasible sum of what single prompts gain on the
    sample. Shares 1 / r_i are rounded up to whole numbers, so that such gains are exact and still bounds.

    Attributes:
        rows: (m,) distinct positions.
        weights: (m,) whole numbers, of gains on these rows: how often a row was drawn, times 2^36 / r_i.
        draws: how many.
        room: R.
    """

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    draws: int
    room: int

    @classmethod
    def of(
        cls,
        mass: NDArray[np.float64],
        coverage: NDArray[np.float32],
        draws: int,
        seed: int,
        high: NDArray[np.float32] | None = None,
    ) -> Drawn:
        """Draw rows with replacement; the same on any machine, since chances are whole numbers.

        Args:
            mass: (n,) whole numbers.
            coverage: (n,) whole numbers.
            draws: at most 2^16.
            seed: of the draw.
            high: (n,) up to what coverage counts; default: all of it.
        """
        room = (UNIT if high is None else high.astype(np.int64)) - coverage.astype(np.int64)
        tickets = np.cumsum(mass.astype(np.int64) * room)
        if tickets[-1] == 0:  # all rows have a pick among their equals
            return cls(np.zeros(0, np.int64), np.zeros(0), draws, 0)
        drawn = np.random.default_rng(seed).integers(0, tickets[-1], draws)
        rows, times = np.unique(np.searchsorted(tickets, drawn, side="right"), return_counts=True)
        weights = times.astype(np.float64) * np.ceil(2.0**_SHARE_BITS / room[rows])
        return cls(rows.astype(np.int64), weights, draws, int(tickets[-1]))

    def limit(self, best_sum: float, risk: float) -> float:
        """What the optimum gains at most, but for a chance of `risk`.

        Args:
            best_sum: of gains on the rows, by weight.
            risk: in (0, 1).
        """
        return self.room * upper_limit(best_sum / 2.0**_SHARE_BITS / self.draws, self.draws, risk)


def upper_limit(mean: float, draws: int, risk: float) -> float:
    """The largest expectation that independent draws from [0, 1] with such a mean, or a smaller one, leave open.

    The mean of `draws` draws of expectation p is at most a < p with probability at most exp(-draws kl(a, p)), where
    kl(a, p) = a ln(a / p) + (1 - a) ln((1 - a) / (1 - p)) (Hoeffding 1963, theorem 1). So p is larger than the largest
    u with draws kl(mean, u) <= ln(1 / risk) with probability `risk` at most.
    """
    if mean >= 1:
        return 1.0
    most = math.log(1 / risk) / draws
    low, high = mean, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(mean, middle) <= most else (low, middle)
    return high


def _divergence(mean: float, expected: float) -> float:
    """The relative entropy of two coins, for 0 <= mean <= expected < 1."""
    one = mean * math.log(mean / expected) if mean > 0 else 0.0
    return one + (1 - mean) * math.log((1 - mean) / (1 - expected))
