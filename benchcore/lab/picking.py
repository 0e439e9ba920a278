"""Picks of one method on one sub-pool: all budgets, all draws."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.contestants import CONTROL, Contestant
from benchcore.lab.pieces import Arrays
from benchcore.lab.protocol import PERMUTED, TOKENS, Protocol, Trial
from benchcore.lab.tokens import equally_long
from benchcore.methods.problem import Selection

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Picked:
    """What a method picked on a sub-pool.

    Attributes:
        indices: by draw and budget, (k,) rows of the sub-pool.
        own: by draw and budget, (k,) the method's own weights, or None.
        seconds: that one draw took for all budgets, on average.
    """

    indices: list[list[Indices]]
    own: list[list[NDArray[np.float64] | None]]
    seconds: float

    def arrays(self) -> Arrays:
        """As they are kept."""
        named: dict[str, NDArray[Any]] = {}
        for draw, budgets in enumerate(self.indices):
            for place, indices in enumerate(budgets):
                named[f"indices {draw} {place}"] = indices
                weights = self.own[draw][place]
                if weights is not None:
                    named[f"own {draw} {place}"] = weights
        return {**named, "seconds": np.array(self.seconds), "shape": np.array([len(self.indices), len(budgets)])}


def picked_of(arrays: Arrays) -> Picked:
    """Picks as they were kept."""
    draws, budgets = arrays["shape"]
    return Picked(
        [[arrays[f"indices {draw} {place}"] for place in range(budgets)] for draw in range(draws)],
        [[arrays.get(f"own {draw} {place}") for place in range(budgets)] for draw in range(draws)],
        float(arrays["seconds"]),
    )


def draws_of(contestant: Contestant, protocol: Protocol) -> int:
    """How many seeds a method is measured with; where scores are permuted, how many permutations."""
    if contestant.name == CONTROL:
        return protocol.control_draws
    return protocol.draws if contestant.entry.drawn or protocol.ablation == PERMUTED else 1


def pick(trial: Trial, contestant: Contestant) -> Picked:
    """Let a method pick on a sub-pool.

    A nested method is asked once for the largest budget, unless it gives its picks weights, which are those of one
    budget alone. A method that does not draw is asked once, whatever scores are permuted.
    """
    started = time.perf_counter()
    draws = draws_of(contestant, trial.protocol)
    asked = draws if contestant.entry.drawn else 1
    selections = [_all_budgets(trial, contestant, draw) for draw in range(asked)]
    seconds = (time.perf_counter() - started) / asked
    selections *= draws // asked
    return Picked(
        [[np.asarray(selection.indices) for selection in budgets] for budgets in selections],
        [[selection.weights for selection in budgets] for budgets in selections],
        seconds,
    )


def _all_budgets(trial: Trial, contestant: Contestant, draw: int) -> list[Selection]:
    ks = trial.protocol.ks
    if trial.protocol.equal == TOKENS and contestant.name != CONTROL:
        return equally_long(partial(_ask, trial, contestant, draw), trial, nested=contestant.entry.nested)
    largest = _ask(trial, contestant, draw, ks[-1])
    if contestant.entry.nested and largest.weights is None:
        return [replace(largest, indices=largest.indices[:k]) for k in ks]
    return [*(_ask(trial, contestant, draw, k) for k in ks[:-1]), largest]


def _ask(trial: Trial, contestant: Contestant, draw: int, k: int) -> Selection:
    problem = trial.problem(k, draw, balanced=contestant.balanced, with_scores=not contestant.entry.score_free)
    if contestant.panel:
        seen = trial.source[:, : contestant.panel]
        problem = replace(problem, features={**problem.features, "scores": seen})
    return contestant.entry(problem)
