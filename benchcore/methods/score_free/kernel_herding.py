"""Kernel herding on the vectors: greedy picks whose mean is near that of the pool."""

from __future__ import annotations

from benchcore.methods.kernel_mean.herding import herd
from benchcore.methods.kernel_mean.mean_kernel import embedding_kernel
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def kernel_herding(problem: Problem) -> Selection:
    """Pick greedily against the maximum mean discrepancy under an RBF kernel (Chen, Welling and Smola 2010, 1203.3472).

    In balanced rounds where the problem is balanced. The first j picks are those of a problem with k = j.

    Args:
        problem: with the block `embedding`, (n, d).

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return unvalued(herd(problem, embedding_kernel(problem)))
