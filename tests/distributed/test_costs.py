"""Laws of what a selection is expected to take, and of the refusal of what does not fit."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchcore.distributed.costs import (
    GIB,
    Rates,
    Work,
    granted,
    needed,
    require_memory,
    resized,
    rounds,
    worker_bytes,
)
from benchcore.distributed.plan import DENSE_PICKS, ENTRY_BYTES, depth, merge_levels, picks_before_lists
from benchcore.errors import BenchcoreError


def work(n: int = 200_000, k: int = 100, *, shard_size: int = 20_000, workers: int = 4, **values: object) -> Work:
    """A selection over equal shards."""
    sizes = (shard_size,) * (n // shard_size)
    deep = depth(k, n)
    base = Work(
        way="shards",
        sizes=sizes,
        dimension=384,
        features=384,
        k=k,
        depth=deep,
        levels=merge_levels(list(sizes), deep, GIB),
        certificate="exact",
        merge_bytes=GIB,
        pool_bytes=500 * n,
        workers=workers,
        cpus=4,
    )
    return replace(base, **values)


def seconds(selection: Work) -> float:
    return sum(found.seconds for found in rounds(selection, Rates()))


@pytest.mark.parametrize("way", ["shards", "whole pool", "candidates", "labels"])
def test_more_prompts_take_more_of_everything(way: str):
    """For every way of picking; more picks never take less."""
    values = {"way": way, "candidates": 10_000 * (way == "candidates")}
    if way != "shards":
        values |= {"levels": (), "certificate": "none"}
    small, large, deep = (work(n, k, **values) for n, k in ((200_000, 100), (400_000, 100), (200_000, 2000)))

    assert seconds(small) < seconds(large)
    assert needed(small) < needed(large)
    assert seconds(small) <= seconds(deep)
    assert needed(small) <= needed(deep)


def test_the_local_and_the_exact_rounds_grow_as_their_pairs():
    """A shard's pairs are its square; those of the certificate are the pool's."""
    one, two = ({found.name: found.seconds for found in rounds(work(n), Rates())} for n in (200_000, 400_000))

    assert two["local"] == pytest.approx(2 * one["local"], rel=0.2)  # whole shards a worker: 3 of 10, 5 of 20
    assert two["certificate"] == pytest.approx(4 * one["certificate"], rel=0.3)


def test_more_workers_hold_more_and_finish_no_later():
    """Rows are divided; what each process is by itself is not."""
    assert needed(work(workers=1)) < needed(work(workers=2)) < needed(work(workers=10))
    assert seconds(work(workers=1)) >= seconds(work(workers=2))
    assert worker_bytes(work(workers=5)) < worker_bytes(work(workers=1))


def test_codes_are_kept_only_where_half_of_the_free_memory_is_enough():
    """Without them the local round takes longer, and nothing else does."""
    selection = work()
    little, much = needed(selection), needed(selection) + 4 * GIB
    slow, fast = (rounds(selection, Rates(), available) for available in (little, much))

    assert granted(selection, little) == 0
    assert [a.name for a, b in zip(slow, fast, strict=True) if a.seconds > b.seconds] == ["local"]
    assert max(found.expected for found in fast) <= much


@pytest.mark.parametrize("pairs", [1, 10**6, 10**9, 8 * 10**9])
def test_lists_fit_after_the_picks_that_come_before_them(pairs: int):
    """About one pair in t + 1 is left after t picks; one pick fewer would not do."""
    first = picks_before_lists(pairs, GIB)

    assert pairs * ENTRY_BYTES / (first + 1) <= GIB
    assert first == 0 or pairs * ENTRY_BYTES / first > GIB
    assert first <= DENSE_PICKS


def test_neighbours_take_one_pass_and_no_more_than_their_pairs():
    """Less time in a merge than all pairs take, and memory that grows with the neighbours alone."""
    few, many, exact = (work(200_000, 1000, neighbours=neighbours) for neighbours in (20, 170, None))
    merges = [next(part for part in rounds(made, Rates()) if part.name == "merge") for made in (few, many, exact)]

    assert merges[0].seconds < merges[1].seconds < merges[2].seconds
    assert merges[1].memory - merges[0].memory == 150 * 200_000 * ENTRY_BYTES


def test_what_does_not_fit_names_what_would_and_it_does():
    """Each setting that the line names brings the need below what is free."""
    selection = work(2_000_000, workers=16)
    available = needed(selection) - 3 * GIB
    with pytest.raises(BenchcoreError, match="in 100 shards on 16 workers need") as refused:
        require_memory(selection, available)
    told = str(refused.value)

    workers = int(re.search(r"select\.workers: (\d+)", told)[1])
    assert needed(resized(selection, workers=workers)) <= available < needed(resized(selection, workers=workers + 1))
    assert f"{needed(selection) / GIB:.1f} GiB" in told
    assert f"{available / GIB:.1f} GiB are free" in told


def test_what_no_setting_makes_fit_says_how_much_it_takes():
    """With the least that one worker needs; a selection that fits is let through."""
    selection = work(2_000_000)
    with pytest.raises(BenchcoreError, match=r"machine or cluster with \d+\.\d GiB free"):
        require_memory(selection, GIB)

    require_memory(selection, needed(selection))
