"""The kernel of the mean, herding and swaps, against their definitions written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.methods import METHODS
from benchcore.methods.kernel_mean.herding import herd
from benchcore.methods.kernel_mean.mean_kernel import MeanKernel, full_kernel
from benchcore.methods.kernel_mean.swaps import equal_weights, swap
from benchcore.methods.problem import Problem
from benchcore.methods.stratified_random import stratified_random
from benchcore.submodular.constraints.rounds import Rounds


def problem(seed: int = 0, n: int = 90, k: int = 12, **changes: object) -> Problem:
    random = np.random.default_rng(seed)
    numbers = np.sort(random.choice(3, n, p=[0.6, 0.3, 0.1]))
    made = Problem(
        ids=np.array([f"{row:04d}" for row in range(n)]),
        groups=np.array(list("abc"))[numbers],
        mass=(1 / np.bincount(numbers) / 3)[numbers],
        features={
            "embedding": (random.normal(size=(n, 6)) + numbers[:, None]).astype(np.float32),
            "surface": random.normal(size=(n, 4)) * [1, 50, 0, 1],
        },
        k=k,
    )
    return replace(made, **changes)


def dense(posed: Problem) -> np.ndarray:
    """The kernel as it is written down, in double precision."""
    vectors = posed.features["embedding"].astype(np.float64)
    surface = posed.features["surface"]
    spread = np.where(surface.std(axis=0) > 0, surface.std(axis=0), np.inf)
    parts = []
    for block in (vectors / np.linalg.norm(vectors, axis=1)[:, None], (surface - surface.mean(axis=0)) / spread):
        squares = ((block[:, None] - block) ** 2).sum(axis=2)
        parts.append(np.exp(-squares / (2 * np.median(squares[np.triu_indices(posed.n, 1)]))))
    same = posed.group_numbers[:, None] == posed.group_numbers
    return np.mean(parts, axis=0) * (0.5 + 0.5 * same)


def discrepancy(posed: Problem, picks: np.ndarray) -> float:
    kernel, weights = dense(posed), equal_weights(posed, picks)
    return float(weights @ kernel[np.ix_(picks, picks)] @ weights - 2 * weights @ (kernel @ posed.mass)[picks])


@pytest.mark.parametrize("n", [90, 1100])
def test_rows_and_mean_are_those_of_the_whole_matrix(n: int):
    """Also where the mean is summed block by block, and when it is asked for again."""
    posed = problem(n=n)
    if n > 1024:  # the bandwidth is that of evenly spaced rows
        kernel = full_kernel(posed)
        whole = kernel.rows(slice(None)).astype(np.float64)
    else:
        kernel, whole = full_kernel(posed), dense(posed)

    assert np.allclose(whole[[5, 3]], kernel.rows(np.array([5, 3])), atol=2e-6)
    assert np.allclose(whole @ posed.mass, kernel.mean(posed.mass), atol=2e-6)
    assert np.array_equal(kernel.mean(posed.mass), full_kernel(posed).mean(posed.mass))
    assert not np.allclose(kernel.mean(posed.mass), kernel.mean(np.full(n, 1 / n)), atol=1e-4)


def test_equal_rows_and_columns_that_never_vary_are_no_trouble():
    """Everything is similar to everything."""
    kernel = MeanKernel([np.ones((4, 3)), np.zeros((4, 1))])

    assert np.allclose(1, kernel.rows(slice(None)))


@pytest.mark.parametrize("balanced", [True, False])
def test_herding_picks_what_lowers_the_discrepancy_most(balanced: bool):
    """The definition, with equal weights at every step, for groups of equal mass."""
    posed = problem(balanced=balanced, include=np.array([50]))
    kernel, mean = dense(posed), dense(posed) @ posed.mass
    rounds = Rounds(posed.turns, posed.available, posed.k - 1, posed.given)
    expected = [50]
    rounds.take(50)
    while len(expected) < posed.k:
        worth = {}
        for item in np.flatnonzero(rounds.allowed()):
            picks = [*expected, int(item)]
            worth[int(item)] = kernel[np.ix_(picks, picks)].mean() - 2 * mean[picks].mean()
        expected.append(min(worth, key=worth.__getitem__))
        rounds.take(expected[-1])

    assert expected == herd(posed, full_kernel(posed)).tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("balanced", [True, False])
def test_after_the_swaps_no_swap_lowers_the_discrepancy(seed: int, balanced: bool):
    """Groups keep their counts, includes stay, what is excluded stays out."""
    posed = problem(seed, balanced=balanced, include=np.array([70]), exclude=np.arange(5))
    start = stratified_random(posed).indices

    picks = swap(posed, full_kernel(posed), start)

    reached = discrepancy(posed, picks)
    assert reached < discrepancy(posed, start)
    assert posed.turns[start].tolist() == posed.turns[picks].tolist()
    assert picks[0] == 70
    for position in range(1, posed.k):
        for other in np.setdiff1d(
            np.flatnonzero(posed.available & (posed.turns == posed.turns[picks[position]])), picks
        ):
            changed = picks.copy()
            changed[position] = other
            assert discrepancy(posed, changed) > reached - 1e-6


def test_weights_are_those_of_the_macro_mean():
    """1 / (B q_b); the mass of a group without picks goes to the others."""
    posed = problem()
    first = [int(np.flatnonzero(posed.groups == name)[0]) for name in "abc"]

    assert np.allclose([1 / 3] * 3, equal_weights(posed, np.array(first)))
    assert np.allclose([1 / 4, 1 / 4, 1 / 2], equal_weights(posed, np.array([first[0], first[0] + 1, first[1]])))


@pytest.mark.parametrize("name", ["balanced_swaps", "herding_swaps", "facility_location_swaps", "balanced_herding"])
def test_blocks_that_a_problem_has_are_looked_at(name: str):
    """Other picks with a block than without."""
    posed = problem()
    alone = replace(posed, features={"embedding": posed.features["embedding"]})

    assert METHODS[name](posed).indices.tolist() != METHODS[name](alone).indices.tolist()
