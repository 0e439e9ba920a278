"""MMD-critic: prototypes that stand for the pool, and criticisms where they do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.herding import Herd, rounds_of
from benchcore.methods.kernel_mean.mean_kernel import MeanKernel, embedding_kernel
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued

_EVERY = 5


def mmd_critic(problem: Problem) -> Selection:
    """Four prototypes, then a criticism, and so on (Kim, Khanna and Koyejo 2016, "Examples are not enough").

    Prototypes lower the maximum mean discrepancy greedily, which under an RBF kernel is kernel herding; criticisms have
    the largest |witness function|, and a log-determinant keeps them apart. The paper picks criticisms last; here they
    come in between, so that the first j picks are those of a problem with k = j. In balanced rounds where the problem
    is balanced.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    kernel = embedding_kernel(problem)
    prototypes, criticisms, rounds = Herd(problem, kernel), _Apart(kernel), rounds_of(problem)
    order = [int(item) for item in problem.include]
    for item in order:
        prototypes.add(item)
        rounds.take(item)
    for pick in range(1, problem.k - len(order) + 1):
        allowed = np.flatnonzero(rounds.allowed())
        if pick % _EVERY:
            best = int(allowed[np.argmin(prototypes.discrepancy(allowed))])
            prototypes.add(best)
        else:
            worth = np.abs(prototypes.witness(allowed)) + criticisms.log_variance(allowed)
            best = int(allowed[np.argmax(worth)])
            criticisms.add(best)
        rounds.take(best)
        order.append(best)
    return unvalued(np.array(order, np.int64))


class _Apart:
    """Conditional variances given the criticisms so far: their logarithms are gains of log det K."""

    def __init__(self, kernel: MeanKernel) -> None:
        self._kernel, self._variance = kernel, np.ones(kernel.n)
        self._factors: list[NDArray[np.float64]] = []

    def log_variance(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        gains: NDArray[np.float64] = np.log(self._variance[candidates])
        return gains

    def add(self, candidate: int) -> None:
        row = self._kernel.rows(np.array([candidate]))[0].astype(np.float64)
        for factor in self._factors:
            row -= factor[candidate] * factor
        row /= np.sqrt(self._variance[candidate])
        self._factors.append(row)
        self._variance = np.maximum(self._variance - row**2, 1e-6)
