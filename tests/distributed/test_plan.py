"""Laws of the plan: shards from the pool and the shard size alone."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.distributed.plan import cut, depth
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
