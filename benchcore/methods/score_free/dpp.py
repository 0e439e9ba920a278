"""The most likely set of a determinantal point process, greedily: picks that span as much space as possible."""

from __future__ import annotations

from benchcore.methods.greedy import maximize
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.objectives.log_determinant import LowRankLogDeterminant
from benchcore.submodular.quantise import UNIT

SCALE = 100.0


def dpp(problem: Problem) -> Selection:
    """Pick greedily for log det(I + a K), K the centred cosine (Chen, Zhang and Zhou 2018, arXiv 1709.05135), a = 100.

    With a plain K of rank d the value is minus infinity beyond k = d; with a this large it is nearly that of the plain
    K before, and finite after.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return maximize(problem, lambda rows, mass: LowRankLogDeterminant(rows, SCALE, float(UNIT)))
