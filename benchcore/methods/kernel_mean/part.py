"""The problem of some rows of a pool alone, when the kernel's mean is that of the whole pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchcore.methods.problem import Indices, Problem


def among(problem: Problem, positions: Indices) -> Problem:
    """The problem of some rows, without features: each group's whole mass divided equally among those of its rows.

    Args:
        problem: of the pool.
        positions: ascending; the includes are among them, and nothing that is excluded is.
    """
    turns = problem.turns
    mass = np.bincount(turns, weights=problem.mass)
    counts = np.bincount(turns[positions], minlength=len(mass))
    return replace(
        problem,
        ids=problem.ids[positions],
        groups=problem.groups[positions],
        mass=(mass / np.maximum(counts, 1))[turns[positions]],
        features={},
        include=np.searchsorted(positions, problem.include),
        exclude=np.zeros(0, np.int64),
    )
