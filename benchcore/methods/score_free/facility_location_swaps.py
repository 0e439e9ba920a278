"""Facility location, then swaps inside groups that bring the mean of the picks nearer to that of the pool."""

from __future__ import annotations

from benchcore.methods.facility_location import facility_location
from benchcore.methods.kernel_mean.mean_kernel import full_kernel
from benchcore.methods.kernel_mean.swaps import swap
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued


def facility_location_swaps(problem: Problem) -> Selection:
    """The swaps of `balanced_swaps` from the picks of `facility_location`: nothing is drawn, and nothing nested.

    Args:
        problem: with the block `embedding`, (n, d); `surface` and `ngrams` where it has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return unvalued(swap(problem, full_kernel(problem), facility_location(problem).indices))
