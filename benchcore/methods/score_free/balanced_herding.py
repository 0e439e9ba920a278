"""Kernel herding on all that is known of an item: its vector, its surface, its n-grams, its group."""

from __future__ import annotations

from benchcore.methods.kernel_mean.herding import herd
from benchcore.methods.kernel_mean.mean_kernel import full_kernel
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def balanced_herding(problem: Problem) -> Selection:
    """Kernel herding (Chen, Welling and Smola 2010, arXiv 1203.3472) with the kernel of `balanced_swaps`; nested.

    Args:
        problem: with the block `embedding`, (n, d); `surface` and `ngrams` where it has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return unvalued(herd(problem, full_kernel(problem)))
