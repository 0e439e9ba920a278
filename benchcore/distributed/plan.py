"""What a selection over shards will do: from the pool, k and the configuration, never from the workers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.shards import Shard, cut
from benchcore.errors import BenchcoreError
from benchcore.machine import in_words

_FIRST_DEPTH, _DEPTH_FACTOR = 256, 4
ENTRY_BYTES = 6  # of a pair that a merge keeps
DENSE_PICKS = 64  # the most picks of a merge before it keeps pairs: about one pair in t + 1 matters after t picks
EXACT_ROWS = 150_000  # the most prompts of which all pairs are looked at, for a certificate or a kernel
SAMPLED_ROWS = 20_000  # rows of a sampled certificate


@dataclass(frozen=True)
class Merge:
    """One merge: the picks of some shards, or of some merges of the level before, compete on all rows below them.

    Attributes:
        children: numbers in the level before; of shards in the first level.
        shards: whose rows are represented.
    """

    children: tuple[int, ...]
    shards: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """A selection over shards.

    Attributes:
        shards: the parts of the pool.
        levels: of merges, from the shards upwards; the last has one. None where the method merges nothing.
        certificate: which bound on the optimum there will be.
        candidates: how many prompts a method picks from that does not look at all of them; None for all other methods.
        neighbours: of each prompt, how many candidates a merge looks at, the most similar ones; None for all, and where
            there is one shard, which is merged with nothing.
    """

    shards: tuple[Shard, ...]
    levels: tuple[tuple[Merge, ...], ...]
    certificate: Literal["exact", "sampled", "none"]
    candidates: int | None = None
    neighbours: int | None = None


def plan(
    text_hash: NDArray[np.str_],
    *,
    k: int,
    shard_size: int,
    buckets: int,
    merge_gb: float | None,
    certified: bool,
    exact_rows: int = EXACT_ROWS,
    candidates: int | None = None,
    neighbours: int | None = None,
) -> Plan:
    """Plan a selection of k prompts of a pool over shards.

    Args:
        text_hash: (n,) of the pool, not empty.
        k: picks, or how deep the order of picks goes.
        shard_size: prompts in a shard.
        buckets: of the embeddings table.
        merge_gb: GiB of pairs that a merge may keep over all workers; None where nothing is merged.
        certified: whether a certificate is wanted.
        exact_rows: the most prompts of which all pairs are looked at.
        candidates: of a larger pool, how many prompts the method picks from; None where it looks at all.
        neighbours: of each prompt, how many candidates a merge looks at; None for all.

    Raises:
        BenchcoreError: no tree of merges keeps within `merge_gb`; says what would.
    """
    shards = cut(text_hash, shard_size, buckets)
    sizes = [len(shard.positions) for shard in shards]
    levels = () if merge_gb is None else merge_levels(sizes, k, int(merge_gb * 2**30), neighbours)
    exact = len(text_hash) <= exact_rows
    certificate: Literal["exact", "sampled", "none"] = "none" if not certified else "exact" if exact else "sampled"
    nearest = neighbours if len(shards) > 1 else None
    return Plan(shards, levels, certificate, None if exact else candidates, nearest)


def merge_levels(sizes: list[int], k: int, memory: int, neighbours: int | None = None) -> tuple[tuple[Merge, ...], ...]:
    """One merge of all shards where its pairs fit; else a tree of as few levels as fit, even in its branches.

    With neighbours the tree is the same, since it bounds how many candidates each row is held against, and their pairs
    must fit.

    Args:
        sizes: rows of each shard.
        k: picks that each shard hands over.
        memory: bytes of pairs that a merge may keep.
        neighbours: of each row, how many candidates' pairs a merge keeps; None for all that can still matter.

    Raises:
        BenchcoreError: not even merges of two fit, or the neighbours do not; says what would.
    """
    most = memory // ENTRY_BYTES
    levels, fits = _fewest_levels(sizes, k, most)
    if neighbours is not None:
        fits = all(nearest_pairs(merge, sizes, k, neighbours) <= most for level in levels for merge in level)
    if not fits and len(sizes) > 1:
        raise _too_large(levels[-1][0], sizes, k, memory, neighbours)
    return levels


def _fewest_levels(sizes: list[int], k: int, most: int) -> tuple[tuple[tuple[Merge, ...], ...], bool]:
    """As few levels as keep to so many pairs, and whether they do: merges of two may be too large as well."""
    level_count = 1
    while True:
        branches = max(2, math.ceil(round(len(sizes) ** (1 / level_count), 9)))
        levels = _levels(sizes, branches)
        fits = all(pairs(merge, sizes, k) <= most * (DENSE_PICKS + 1) for level in levels for merge in level)
        if fits or len(sizes) == 1 or branches == 2:
            return levels, fits
        level_count += 1


def _too_large(merge: Merge, sizes: list[int], k: int, memory: int, neighbours: int | None) -> BenchcoreError:
    kept = pairs(merge, sizes, k) / (DENSE_PICKS + 1)
    what, less = f"{k:,} picks a side", "pick fewer"
    if neighbours is not None:
        kept = nearest_pairs(merge, sizes, k, neighbours)
        what, fitting = f"{neighbours:,} neighbours of each", memory // ENTRY_BYTES // sum(sizes)
        less = f"select.neighbours to {fitting:,}" if fitting else "pick from fewer prompts"
    needed = kept * ENTRY_BYTES
    enough = math.ceil(needed / 2**30 * 1000) / 1000
    return BenchcoreError(
        f"the last merge of {sum(sizes):,} prompts with {what} needs {in_words(needed)} over all workers",
        where="select.merge_gb",
        mend=f"Set it to {enough:g} on a cluster that has as much, or {less}.",
    )


def merge_step(level: int) -> str:
    """Name of a level of merges, counted from 0, in timings."""
    return f"merge {level + 1}"


def pairs(merge: Merge, sizes: list[int], k: int) -> int:
    """Pairs of a candidate and a row in a merge, at most."""
    return len(merge.children) * k * sum(sizes[shard] for shard in merge.shards)


def nearest_pairs(merge: Merge, sizes: list[int], k: int, neighbours: int) -> int:
    """Pairs of a row and one of its nearest candidates in a merge, at most."""
    return min(neighbours, len(merge.children) * k) * sum(sizes[shard] for shard in merge.shards)


def picks_before_lists(merge_pairs: int, merge_bytes: int) -> int:
    """How many picks a merge makes before the pairs that can still matter fit.

    After t picks about one pair in t + 1 is more similar than what covers the row already.

    Args:
        merge_pairs: of a candidate and a row.
        merge_bytes: that may be kept.
    """
    return min(DENSE_PICKS, max(0, math.ceil(merge_pairs * ENTRY_BYTES / merge_bytes) - 1))


def _levels(sizes: list[int], branches: int) -> tuple[tuple[Merge, ...], ...]:
    below: list[tuple[int, ...]] = [(number,) for number in range(len(sizes))]  # shards below each node so far
    levels: list[tuple[Merge, ...]] = []
    while not levels or len(below) > 1:
        groups = [range(start, min(start + branches, len(below))) for start in range(0, len(below), branches)]
        level = tuple(Merge(tuple(group), tuple(s for child in group for s in below[child])) for group in groups)
        levels.append(level)
        below = [merge.shards for merge in level]
    return tuple(levels)


def depth(k: int, most: int) -> int:
    """How many picks are ordered when k are wanted: 256, 1,024, 4,096, ..., at most as many as there are.

    A bracket of k shares one order, so that a smaller k is its prefix whatever was asked for first.
    """
    deep = _FIRST_DEPTH
    while deep < k:
        deep *= _DEPTH_FACTOR
    return min(deep, most)
