"""Picks from candidates of a pool in parts: the mean of the whole pool, and how near the picks come to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.methods.geometry.directions import unit_rows
from benchcore.methods.kernel_mean.candidates import (
    Rows,
    drawn_candidates,
    most_picks,
    part_of_mean,
    pick_from,
)
from benchcore.methods.kernel_mean.mean_kernel import PartKernel, full_kernel, sample_positions
from benchcore.methods.kernel_mean.scale import moments, scale_of, together
from benchcore.methods.problem import Problem
from benchcore.methods.score_free.balanced_swaps import balanced_swaps_by
from benchcore.methods.score_free.nested_swaps import nested_swaps, nested_swaps_by
from benchcore.methods.stratified_random import stratified_random
from benchcore.submodular.constraints.rounds import follows_rounds
from tests.methods.test_kernel_mean import dense, discrepancy, problem


def measured(posed: Problem, chosen: np.ndarray, parts: int = 4) -> PartKernel:
    """The candidates' kernel, with a mean that is added up from random parts of the pool."""
    part_of = np.random.default_rng(9).integers(0, parts, posed.n)
    shards = [np.flatnonzero(part_of == part) for part in range(parts)]
    blocks = {"embedding": unit_rows(posed.features["embedding"]), "surface": posed.features["surface"]}
    sample, groups = sample_positions(posed.n), posed.group_numbers.astype(np.int32)
    scales = {
        name: scale_of(together([moments(block[shard]) for shard in shards]), block[sample], name == "surface")
        for name, block in blocks.items()
    }

    def rows(some: np.ndarray) -> Rows:
        return Rows([scales[name].applied(block[some]) for name, block in blocks.items()], groups[some])

    mean = sum(part_of_mean(rows(chosen), rows(shard), posed.mass[shard]) for shard in shards)
    return PartKernel(rows(chosen).blocks, groups[chosen], mean)


@pytest.mark.parametrize("n", [90, 1300])
def test_the_mean_of_a_pool_in_parts_is_that_of_the_whole(n: int):
    """To single precision, and so is the kernel; a column that never varies says nothing in either."""
    posed = problem(n=n)
    chosen = drawn_candidates(posed, n // 2)

    kernel, whole = measured(posed, chosen), full_kernel(posed)

    assert np.allclose(whole.mean(posed.mass)[chosen], kernel.mean(posed.mass), rtol=0, atol=1e-6)
    assert np.allclose(whole.rows(chosen)[:, chosen], kernel.rows(slice(None)), rtol=0, atol=2e-6)
    if n < 1024:
        assert np.allclose((dense(posed) @ posed.mass)[chosen], kernel.mean(posed.mass), rtol=0, atol=1e-6)


def test_where_all_are_candidates_the_picks_are_those_of_the_whole_pool():
    """Pick by pick, in rounds and without, with an include; what is excluded is represented and no candidate."""
    for changes in ({}, {"balanced": False}, {"include": np.array([70, 3])}):
        posed = problem(**changes)
        chosen = drawn_candidates(posed, 1000)

        found = pick_from(chosen, nested_swaps_by, posed, measured(posed, chosen))

        assert nested_swaps(posed).indices.tolist() == found.indices.tolist()


def test_candidates_are_balanced_and_do_not_depend_on_k():
    """A group that has no more gives all; includes are among them, what is excluded is not."""
    posed = problem(include=np.array([50]), exclude=np.arange(40, 50))

    chosen = drawn_candidates(posed, 45)
    counts = np.bincount(posed.group_numbers[chosen])

    assert len(chosen) == 45
    assert chosen.tolist() == drawn_candidates(replace(posed, k=30), 45).tolist()
    assert set(chosen) != set(drawn_candidates(replace(posed, seed=1), 45))
    assert 50 in chosen
    assert not set(chosen) & set(posed.exclude)
    assert counts[2] == np.count_nonzero(posed.group_numbers == 2)
    assert abs(counts[0] - counts[1]) <= 1
    assert (most_picks(posed, 45), most_picks(posed, 80)) == (11, 80)


@pytest.mark.parametrize("balanced", [True, False])
def test_picks_from_candidates_are_nearer_than_draws(balanced: bool):
    """A third of the pool as candidates: less than two thirds of the best of ten draws; prefixes, rounds kept."""
    posed = problem(n=500, k=40, balanced=balanced, include=np.array([70]), exclude=np.arange(5))
    chosen = drawn_candidates(posed, 160)
    kernel = measured(posed, chosen)
    constant = float(posed.mass @ dense(posed) @ posed.mass)
    draws = [stratified_random(replace(posed, seed=seed)).indices for seed in range(10)]
    best = min(discrepancy(posed, draw) + constant for draw in draws)

    nested = pick_from(chosen, nested_swaps_by, posed, kernel).indices
    at_once = pick_from(chosen, balanced_swaps_by, posed, kernel).indices
    fewer = pick_from(chosen, nested_swaps_by, replace(posed, k=17), kernel).indices

    for picks in (nested, at_once):
        assert discrepancy(posed, picks) + constant < best * 2 / 3
        assert picks[0] == 70
        assert len(set(picks)) == 40
        assert follows_rounds(picks[1:], posed.turns, posed.available, posed.given)
    assert fewer.tolist() == nested[:17].tolist()
