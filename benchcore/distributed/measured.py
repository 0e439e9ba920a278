"""What is measured on the picks of a selection over shards: coverage, what each stands for, the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.certificate import Certifying
from benchcore.distributed.crew import Crew
from benchcore.distributed.merge import rows_of
from benchcore.distributed.on_actors.coverage import nearest
from benchcore.distributed.on_actors.query import Query
from benchcore.distributed.plan import Plan
from benchcore.distributed.query import window_of_pool
from benchcore.distributed.timings import Timings, timed
from benchcore.submodular.constraints.constraint import Constraint


@dataclass(frozen=True, eq=False)
class Measured:
    """How good picks are.

    Attributes:
        coverage: (n,) whole-number similarity of each prompt to its nearest pick.
        nearest: (n,) which pick that is.
        value: the objective, a whole number.
        certificate: upper_bound, ratio and kind; None where the plan has none.
    """

    coverage: NDArray[np.float32]
    nearest: NDArray[np.int64]
    value: float
    certificate: Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Measuring:
    """What picks are measured by.

    Attributes:
        crew: workers that hold the shards.
        plan: the shards, and which certificate.
        centre: shared reference to the centre.
        mass: (n,) whole numbers.
        constraint: at its start; on what may be picked beyond the includes.
        seed: of a certificate's sample.
        query: bounds what coverage counts; None without one.
    """

    crew: Crew
    plan: Plan
    centre: Any
    mass: NDArray[np.float64]
    constraint: Constraint
    seed: int
    query: Query | None = None

    def measure(self, picks: NDArray[np.int64], timings: Timings) -> Measured:
        """Measure picks, by their pool positions; `timings` is told how long it takes."""
        with timed("coverage", timings):
            rows = rows_of(self.crew, self.centre, picks)
            coverage, pick = self._nearest(rows)
            window = None
            if self.query is not None:
                window = window_of_pool(self.crew, self.centre, self.query, len(self.mass))
        with timed("certificate", timings):
            certifying = Certifying(
                self.crew,
                self.plan,
                self.centre,
                rows,
                self.mass,
                coverage=coverage,
                constraint=self.constraint,
                seed=self.seed,
                query=self.query,
                window=window,
            )
            certificate = certifying.find()
        return Measured(coverage, pick, certifying.value, certificate)

    def _nearest(self, picks: NDArray[np.int16]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        coverage, pick = np.zeros(len(self.mass), np.float32), np.zeros(len(self.mass), np.int64)
        for answer in self.crew.ask_all(nearest, self.centre, picks):
            coverage[answer.positions], pick[answer.positions] = answer.coverage, answer.pick
        return coverage, pick
