"""A balanced random draw, then swaps inside groups that bring its mean near that of the pool."""

from __future__ import annotations

from benchcore.methods.kernel_mean.mean_kernel import MeanKernel, full_kernel
from benchcore.methods.kernel_mean.swaps import swap
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.stratified_random import stratified_random
from benchcore.methods.unvalued import unvalued


def balanced_swaps(problem: Problem) -> Selection:
    """Lower the maximum mean discrepancy (Gretton et al. 2012) of a draw by swaps of picks within their groups.

    The kernel is (1/2 + 1/2 [same group]) times the mean of RBF kernels on the blocks that the problem has. Not nested.

    Args:
        problem: with the block `embedding`, (n, d); `surface` and `ngrams` where it has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return balanced_swaps_by(problem, full_kernel(problem))


def balanced_swaps_by(problem: Problem, kernel: MeanKernel) -> Selection:
    """The same with a kernel over the problem's rows."""
    return unvalued(swap(problem, kernel, stratified_random(problem).indices))
