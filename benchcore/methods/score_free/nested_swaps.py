"""Swaps chunk by chunk, so that smaller selections are prefixes of larger ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.kernel_mean.herding import herd
from benchcore.methods.kernel_mean.mean_kernel import MeanKernel, full_kernel
from benchcore.methods.kernel_mean.part import among
from benchcore.methods.kernel_mean.swaps import swap
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.stratified_random import stratified_random
from benchcore.methods.unvalued import unvalued

_FIRST, _FIRST_OF_GROUP = 64, 2  # picks in the first chunk: fewer are too alike from draw to draw
_MOST_OF_POOL = 1 / 4  # in the first chunk: where all are picked, their order is herding's alone
_GROWTH = 1.5


def nested_swaps(problem: Problem) -> Selection:
    """Grow `balanced_swaps` in chunks: each is drawn, swapped while all earlier picks stay, and ordered by herding.

    The first j picks are those of a problem with k = j. Chunks end at 64 picks (or twice the number of groups; no more
    than a quarter of the pool), and from there at 1.5 times as many.

    Args:
        problem: with the block `embedding`, (n, d); `surface` and `ngrams` where it has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    return nested_swaps_by(problem, full_kernel(problem))


def nested_swaps_by(problem: Problem, kernel: MeanKernel) -> Selection:
    """The same with a kernel over the problem's rows."""
    room = problem.n - len(problem.exclude)
    picks, end = problem.include, min(max(_FIRST, _FIRST_OF_GROUP * len(problem.given)), int(_MOST_OF_POOL * room))
    while len(picks) < problem.k:
        if end > len(picks):
            picks = _grown(replace(problem, include=picks, k=min(end, room)), kernel)
        end = max(end + 1, int(_GROWTH * end))
    return unvalued(picks[: problem.k])


def _grown(problem: Problem, kernel: MeanKernel) -> NDArray[np.int64]:
    """The includes, then a chunk of further picks, in the order in which herding takes them."""
    chosen = np.sort(swap(problem, kernel, stratified_random(problem).indices))
    return chosen[herd(among(problem, chosen), kernel.part(chosen, problem.mass))]
