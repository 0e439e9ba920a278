"""The kernel by which picks are to have the mean of the pool: several blocks of features, benchmarks kept apart."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.methods.geometry.directions import directions
from benchcore.methods.problem import Problem
from benchcore.submodular.pairs.threads import Threads

_BLOCK = 512  # a block of the kernel stays in the processor's cache
_SAMPLE = 1024  # rows that the median distance is taken from
_KEPT, _KEPT_BYTES = 2, 256 * 1024**2  # kernels, and the largest that is kept


class MeanKernel:
    """K(i, j) = (1/2 + 1/2 [same group]) mean_b exp(-|x_bi - x_bj|^2 / (2 h_b^2)), and 1 for i = j.

    The bandwidth h_b is the median distance of rows that differ. Without groups the first factor is 1. Nothing of size
    n x n is kept.

    Args:
        blocks: (n, d_b) features, at least one block.
        groups: (n,) group numbers, or None.
    """

    def __init__(self, blocks: Sequence[NDArray[np.floating]], groups: NDArray[np.int64] | None = None) -> None:
        self._blocks = [_in_bandwidths(block) for block in blocks]
        self._left, self._right = zip(*(_halves(block) for block in self._blocks), strict=True)
        self._groups = None if groups is None else groups.astype(np.int32)
        self.n = len(self._blocks[0])
        self._means: dict[bytes, NDArray[np.float64]] = {}

    @property
    def nbytes(self) -> int:
        """What it holds."""
        return sum(block.nbytes for block in (*self._blocks, *self._left, *self._right))

    @property
    def coordinates(self) -> NDArray[np.float32]:
        """(n, all d_b) in which the squared Euclidean distance is that of all blocks in their bandwidths."""
        return np.concatenate(self._blocks, axis=1)

    def rows(self, items: NDArray[np.int64] | slice, others: slice = slice(None)) -> NDArray[np.float32]:
        """The kernel of some items (rows) with others (columns)."""
        total = np.exp(self._left[0][items] @ self._right[0][others].T)
        for left, right in zip(self._left[1:], self._right[1:], strict=True):
            exponent = left[items] @ right[others].T
            total += np.exp(exponent, out=exponent)
        if len(self._blocks) > 1:
            total *= np.float32(1 / len(self._blocks))
        if self._groups is not None:
            total *= np.where(self._groups[items, None] == self._groups[others], np.float32(1), np.float32(0.5))
        kernel: NDArray[np.float32] = total
        return kernel

    def mean(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) mu = K m, by one pass over half of all pairs; kept for the next who asks with the same mass."""
        key = _digest([mass])
        if key not in self._means:
            self._means[key] = self._mean(mass)
        return self._means[key]

    def _mean(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = np.zeros(self.n)
        single = mass.astype(np.float32)
        starts = range(0, self.n, _BLOCK)
        # Strips on all cores; their parts are added in the order of strips and blocks, whichever is done first.
        for start, (own, others) in zip(starts, Threads().each(partial(self._strip, single), starts), strict=True):
            for part in own:
                mean[start : start + _BLOCK] += part
            mean[start + _BLOCK :] += others
        mean.setflags(write=False)
        return mean

    def _strip(self, mass: NDArray[np.float32], start: int) -> tuple[list[NDArray[np.float32]], NDArray[np.float32]]:
        """What the pairs of a block of rows with itself and later ones give to its mean, by block, and to theirs."""
        rows = slice(start, min(start + _BLOCK, self.n))
        own, others = [], np.zeros(max(0, self.n - start - _BLOCK), np.float32)
        for second in range(start, self.n, _BLOCK):
            columns = slice(second, min(second + _BLOCK, self.n))
            block = self.rows(rows, columns)
            own.append(block @ mass[columns])
            if second > start:
                others[second - start - _BLOCK : columns.stop - start - _BLOCK] = mass[rows] @ block
        return own, others


# What is kept depends on nothing but its key, the content: a hundred seeds on one pool need one pass over its pairs.
_KERNELS: OrderedDict[bytes, MeanKernel] = OrderedDict()


def embedding_kernel(problem: Problem) -> MeanKernel:
    """The kernel of the vectors alone."""
    return _kept("vectors", [problem.features["embedding"]], lambda: MeanKernel([directions(problem)]))


def full_kernel(problem: Problem) -> MeanKernel:
    """The kernel of all blocks that the problem has (`embedding`, `surface`, `ngrams`), with its groups."""
    groups = problem.group_numbers
    names = [name for name in ("embedding", "surface", "ngrams") if name in problem.features]
    content = [*(problem.features[name] for name in names), groups]
    return _kept("+".join(names), content, lambda: MeanKernel(text_blocks(problem), groups))


def _kept(name: str, content: Sequence[NDArray[Any]], make: Callable[[], MeanKernel]) -> MeanKernel:
    """The kernel of some content: that which was made of the same before, unless it is large."""
    key = name.encode() + _digest(content)
    kernel = _KERNELS.pop(key, None) or make()
    if kernel.nbytes <= _KEPT_BYTES:
        _KERNELS[key] = kernel
        if len(_KERNELS) > _KEPT:
            _KERNELS.popitem(last=False)
    return kernel


def _digest(arrays: Sequence[NDArray[Any]]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def text_blocks(problem: Problem) -> list[NDArray[np.floating]]:
    """Unit vectors, standardised surface figures and n-grams, the last two where the problem has them.

    Raises:
        ValueError: a vector is all zeros or not finite; names the ids.
    """
    blocks: list[NDArray[np.floating]] = [directions(problem)]
    if "surface" in problem.features:
        blocks.append(_standardised(problem.features["surface"]))
    if "ngrams" in problem.features:
        blocks.append(np.asarray(problem.features["ngrams"], np.float64))
    return blocks


def _standardised(block: NDArray[np.floating]) -> NDArray[np.float64]:
    """Columns of mean 0 and variance 1; those that never vary are 0."""
    centred = block.astype(np.float64) - block.mean(axis=0, dtype=np.float64)
    spread = centred.std(axis=0)
    standard: NDArray[np.float64] = centred / np.where(spread > 1e-12 * (1 + np.abs(block).max(axis=0)), spread, np.inf)
    return standard


def _halves(block: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows (x, -|x|^2 / 2, 1) and (y, 1, -|y|^2 / 2), whose products are -|x - y|^2 / 2."""
    half = (-0.5 * (block.astype(np.float64) ** 2).sum(axis=1)).astype(np.float32)[:, None]
    one = np.ones_like(half)
    return np.concatenate([block, half, one], axis=1), np.concatenate([block, one, half], axis=1)


def _in_bandwidths(block: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows around their mean, in units of the median distance of rows that differ (of evenly spaced ones, if many)."""
    centred = block.astype(np.float64) - block.mean(axis=0, dtype=np.float64)
    sample = centred[np.linspace(0, len(block) - 1, min(len(block), _SAMPLE)).astype(np.int64)]
    squares = (sample**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * sample @ sample.T
    apart = distances[np.triu_indices(len(sample), 1)]
    apart = apart[apart > 1e-9 * max(float(squares.max()), 1e-300)]
    bandwidth = float(np.sqrt(np.median(apart))) if apart.size else 1.0
    return np.ascontiguousarray(centred / bandwidth, np.float32)
