"""Laws of the plan: shards from the pool and the shard size alone."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.distributed.plan import Merge, depth, merge_levels, nearest_pairs, pairs, plan
from benchcore.distributed.shards import cut
from benchcore.errors import BenchcoreError
from benchcore.registry.identity import digest

TEXTS = np.array([digest("text", row // 2) for row in range(2000)])  # each twice


@pytest.mark.parametrize("shard_size", [50, 300, 1999, 2000, 10**6])
def test_shards_divide_the_pool_and_keep_equal_texts_together(shard_size: int):
    """Every prompt is in one shard, and shards are of about equal size."""
    shards = cut(TEXTS, shard_size, 64)

    assert list(range(2000)) == sorted(np.concatenate([shard.positions for shard in shards]).tolist())
    assert -(-2000 // shard_size) == len(shards)
    assert max(len(shard.positions) for shard in shards) < 2 * 2000 / len(shards)
    assert sum(len(set(TEXTS[shard.positions])) for shard in shards) == 1000


def test_more_shards_than_buckets_are_refused_with_a_word(caplog: pytest.LogCaptureFixture):
    """Shards get larger instead."""
    assert len(cut(TEXTS, 10, 8)) == 8
    assert "200 shards of 10 prompts were asked for" in caplog.text


def test_an_empty_bucket_makes_no_shard():
    """Three texts in 64 buckets."""
    shards = cut(TEXTS[:6], 1, 64)

    assert all(shard.positions.size for shard in shards)
    assert sum(shard.positions.size for shard in shards) == 6


def test_a_bracket_of_k_shares_one_depth():
    """So that a smaller k is served from what a larger one left."""
    assert [
        depth(1, 10**6), depth(256, 10**6), depth(257, 10**6), depth(1024, 10**6), depth(1025, 10**6), depth(7, 70)
    ] == [256, 256, 1024, 1024, 4096, 70]  # fmt: skip


def test_a_merge_that_fits_is_one_and_others_are_trees():
    """Every level represents all shards once, and no merge exceeds the memory."""
    sizes = [20_000] * 50

    assert [[len(merge.children) for merge in level] for level in merge_levels(sizes, 1000, 2**34)] == [[50]]
    assert [[len(merge.children) for merge in level] for level in merge_levels(sizes, 1000, 2**30)] == [
        [8, 8, 8, 8, 8, 8, 2], [7],
    ]  # fmt: skip
    for memory in (2**28, 2**30):
        levels = merge_levels(sizes, 1000, memory)
        assert all(sorted(s for merge in level for s in merge.shards) == list(range(50)) for level in levels)
        assert all(pairs(merge, sizes, 1000) / 65 * 6 <= memory for level in levels for merge in level)


def test_a_merge_that_never_fits_says_what_would():
    """Two sides are the least that a merge has."""
    with pytest.raises(BenchcoreError, match=r"needs 17\.2 GiB over all workers. Set it to 17\.194"):
        merge_levels([20_000] * 5000, 1000, 2**30)


def test_neighbours_change_no_tree_and_must_fit():
    """Where merges of two would not fit without them, they may; what is too many names how many would do."""
    sizes = [20_000] * 50
    tree, large = merge_levels(sizes, 1000, 2**30), [20_000] * 5000

    assert merge_levels(sizes, 1000, 2**30, neighbours=178) == tree
    assert nearest_pairs(tree[-1][0], sizes, 1000, 178) == 178 * 10**6
    assert nearest_pairs(tree[-1][0], sizes, 1000, 10**6) == 7000 * 10**6
    with pytest.raises(
        BenchcoreError, match=r"200 neighbours of each needs 1\.1 GiB .* or select\.neighbours to 178\."
    ):
        merge_levels(sizes, 1000, 2**30, neighbours=200)
    assert {len(merge.children) for level in merge_levels(large, 1000, 2**30, neighbours=1) for merge in level} <= {
        1,
        2,
    }


def test_one_shard_has_no_neighbours():
    """It is merged with nothing, so they would change nothing."""
    plans = [
        plan(TEXTS, k=10, shard_size=size, buckets=64, merge_gb=1.0, certified=False, neighbours=5)
        for size in (500, 5000)
    ]

    assert [made.neighbours for made in plans] == [5, None]


def test_a_single_shard_is_a_merge_of_one():
    """So that the order of its picks is measured again on all rows, as any other."""
    assert merge_levels([500], 100, 1) == ((Merge((0,), (0,)),),)
