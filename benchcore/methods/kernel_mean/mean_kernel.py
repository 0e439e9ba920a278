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
        self._hold([_in_bandwidths(block) for block in blocks], groups)

    def _hold(self, blocks: Sequence[NDArray[np.float32]], groups: NDArray[np.signedinteger] | None) -> None:
        """Take blocks that are in their bandwidths."""
        self._blocks = blocks
        self._left, self._right = zip(*(halves(block) for block in blocks), strict=True)
        self._groups = None if groups is None else groups.astype(np.int32)
        self.n = len(blocks[0])
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
        left, right = [half[items] for half in self._left], [half[others] for half in self._right]
        if self._groups is None:
            return mean_of_blocks(left, right)
        return alike(mean_of_blocks(left, right), self._groups[items], self._groups[others])

    def mean(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) mu = K m, by one pass over half of all pairs; kept for the next who asks with the same mass."""
        key = _digest([mass])
        if key not in self._means:
            self._means[key] = self._mean(mass)
        return self._means[key]

    def part(self, items: NDArray[np.int64], mass: NDArray[np.float64]) -> PartKernel:
        """The kernel of some items, with their means over all."""
        groups = None if self._groups is None else self._groups[items]
        return PartKernel([block[items] for block in self._blocks], groups, self.mean(mass)[items])

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


class PartKernel(MeanKernel):
    """The kernel of some items of a pool, whose mean similarities to the whole pool are known.

    Args:
        blocks: (m, d_b) features in the bandwidths of the pool.
        groups: (m,) group numbers, or None.
        mean: (m,) mu = K m over the whole pool.
    """

    def __init__(
        self,
        blocks: Sequence[NDArray[np.float32]],
        groups: NDArray[np.signedinteger] | None,
        mean: NDArray[np.float64],
    ) -> None:
        self._hold(blocks, groups)
        self._of_pool = mean

    def mean(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) the mean over the pool, whatever mass its items are given here."""
        return self._of_pool


def mean_of_blocks(left: Sequence[NDArray[np.float32]], right: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """(n, m) mean over the blocks of exp(-|x - y|^2 / 2), from the `halves` of n rows and of m others."""
    total = np.exp(left[0] @ right[0].T)
    for rows, columns in zip(left[1:], right[1:], strict=True):
        exponent = rows @ columns.T
        total += np.exp(exponent, out=exponent)
    if len(left) > 1:
        total *= np.float32(1 / len(left))
    kernel: NDArray[np.float32] = total
    return kernel


def alike(kernel: NDArray[np.float32], groups: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.float32]:
    """(n, m) a kernel, halved in place where the groups of row and column differ."""
    kernel *= np.where(groups[:, None] == others, np.float32(1), np.float32(0.5))
    return kernel


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
    standard: NDArray[np.float64] = centred / np.where(varies(spread, np.abs(block).max(axis=0)), spread, np.inf)
    return standard


def varies(spread: NDArray[np.float64], largest: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which columns vary by more than rounding does, from their standard deviations and largest absolute values."""
    found: NDArray[np.bool_] = spread > 1e-12 * (1 + largest)
    return found


def halves(block: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows (x, -|x|^2 / 2, 1) and (y, 1, -|y|^2 / 2), whose products are -|x - y|^2 / 2."""
    half = (-0.5 * (block.astype(np.float64) ** 2).sum(axis=1)).astype(np.float32)[:, None]
    one = np.ones_like(half)
    return np.concatenate([block, half, one], axis=1), np.concatenate([block, one, half], axis=1)


def _in_bandwidths(block: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows around their mean, in units of their bandwidth."""
    centred = block.astype(np.float64) - block.mean(axis=0, dtype=np.float64)
    return np.ascontiguousarray(centred / bandwidth(centred[sample_positions(len(block))]), np.float32)


def sample_positions(n: int) -> NDArray[np.int64]:
    """Evenly spaced rows of n, all where they are few: those that a bandwidth is taken from."""
    return np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64)


def bandwidth(sample: NDArray[np.float64]) -> float:
    """The median distance of rows that differ, around their mean; 1 where all are equal."""
    squares = (sample**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * sample @ sample.T
    apart = distances[np.triu_indices(len(sample), 1)]
    apart = apart[apart > 1e-9 * max(float(squares.max()), 1e-300)]
    return float(np.sqrt(np.median(apart))) if apart.size else 1.0
