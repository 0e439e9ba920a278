"""Herding, then swaps inside groups that bring the mean of the picks yet nearer to that of the pool."""

from __future__ import annotations

from benchcore.methods.kernel_mean.herding import herd
from benchcore.methods.kernel_mean.mean_kernel import full_kernel
from benchcore.methods.kernel_mean.swaps import swap
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def herding_swaps(problem: Problem) -> Selection:
    """The swaps of `balanced_swaps` from the picks of `balanced_herding`: nothing is drawn, and nothing nested.

    Args:
        problem: with the block `embedding`, (n, d); `surface` and `ngrams` where it has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    kernel = full_kernel(problem)
    return unvalued(swap(problem, kernel, herd(problem, kernel)))
