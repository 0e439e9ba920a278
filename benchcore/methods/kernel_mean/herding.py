"""Kernel herding: greedy picks whose mean in the kernel's space approaches that of the pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.mean_kernel import MeanKernel
from benchcore.methods.problem import Problem
from benchcore.submodular.constraints.rounds import Rounds


class Herd:
    """The picks so far, and what the next would do to |mu - sum_j w_j phi(x_j)|^2.

    The picks weigh the same, or in a balanced problem in proportion to their groups' mass.
    """

    def __init__(self, problem: Problem, kernel: MeanKernel) -> None:
        self._kernel = kernel
        self.mean = kernel.mean(problem.mass)
        shares = np.bincount(problem.turns, weights=problem.mass)
        self._shares = np.maximum(shares / shares.max(), 1e-9)[problem.turns]  # equal groups: 1 for each
        self._total = self._of_picks = self._to_pool = 0.0  # sums of shares, of the kernel of picks, of their means
        self._similar = np.zeros(problem.n)  # to all picks, by share

    def discrepancy(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """The squared discrepancy with each of these candidates beside the picks, less that of the empty set."""
        share = self._shares[candidates]
        total = self._total + share
        of_picks = self._of_picks + 2 * share * self._similar[candidates] + share**2
        to_pool = self._to_pool + share * self.mean[candidates]
        discrepancy: NDArray[np.float64] = of_picks / total**2 - 2 * to_pool / total
        return discrepancy

    def witness(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much the pool is denser than the picks at each of these candidates, in the kernel's eyes."""
        dense: NDArray[np.float64] = self.mean[candidates] - self._similar[candidates] / max(self._total, 1e-300)
        return dense

    def add(self, candidate: int) -> None:
        """Put a candidate among the picks."""
        share = float(self._shares[candidate])
        self._of_picks += 2 * share * float(self._similar[candidate]) + share**2
        self._to_pool += share * float(self.mean[candidate])
        self._total += share
        self._similar += share * self._kernel.rows(np.array([candidate]))[0].astype(np.float64)


def rounds_of(problem: Problem) -> Rounds:
    """Balanced rounds over the problem's groups; cardinality where it is not balanced."""
    return Rounds(problem.turns, problem.available, problem.k - len(problem.include), problem.given)


def herd(problem: Problem, kernel: MeanKernel) -> NDArray[np.int64]:
    """The includes, then greedily the allowed item after which the discrepancy is least; ties to the first."""
    herd, rounds, order = Herd(problem, kernel), rounds_of(problem), [int(item) for item in problem.include]
    for item in order:
        herd.add(item)
        rounds.take(item)
    while len(order) < problem.k:
        allowed = np.flatnonzero(rounds.allowed())
        best = int(allowed[np.argmin(herd.discrepancy(allowed))])
        herd.add(best)
        rounds.take(best)
        order.append(best)
    return np.array(order, np.int64)
