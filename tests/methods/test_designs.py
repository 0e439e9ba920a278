"""Random designs: probabilities that are kept, weights without bias, samples that are spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.methods import METHODS
from benchcore.methods.designs.chances import design, hajek_weights, proportional
from benchcore.methods.designs.pivotal import pivotal
from benchcore.methods.problem import Problem
from benchcore.methods.score_free.ridge_leverage import leverage


def problem(n: int = 60, **changes: object) -> Problem:
    random = np.random.default_rng(1)
    numbers = np.sort(random.choice(3, n, p=[0.6, 0.3, 0.1]))
    made = Problem(
        ids=np.array([f"{row:04d}" for row in range(n)]),
        groups=np.array(list("abc"))[numbers],
        mass=(1 / np.bincount(numbers) / 3)[numbers],
        features={"embedding": random.normal(size=(n, 5)).astype(np.float32)},
        k=10,
    )
    return replace(made, **changes)


def test_probabilities_are_proportional_up_to_one():
    """And add up to the count."""
    assert np.allclose([1, 1, 2 / 3, 1 / 3], proportional(np.array([100.0, 3, 2, 1]), 3))
    assert np.allclose([0.5, 0.5], proportional(np.ones(2), 1))
    assert proportional(np.array([1.0, 5.0]), 2).tolist() == [1, 1]
    assert proportional(np.ones(3), 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("spread", [True, False])
def test_each_item_is_drawn_as_often_as_its_probability_says(spread: bool):
    """And samples have the size that the probabilities add up to."""
    random = np.random.default_rng(0)
    chances = proportional(random.random(30) + 0.1, 8)
    coordinates = random.normal(size=(30, 2)).astype(np.float32) if spread else None
    draws = np.array([pivotal(chances, np.random.default_rng(seed), coordinates) for seed in range(1500)])

    assert (draws.sum(axis=1) == 8).all()
    assert np.abs(draws.mean(axis=0) - chances).max() < 5 * np.sqrt(0.25 / 1500)


@pytest.mark.parametrize("n", [150, 40])
def test_the_local_pivotal_method_spreads_its_samples(n: int):
    """On a line the number drawn from any half varies far less than at random; beyond the lists of neighbours too."""
    line = np.arange(n, dtype=np.float32)[:, None]
    chances = np.full(n, 10 / n)

    def variance(coordinates: np.ndarray | None) -> float:
        draws = [pivotal(chances, np.random.default_rng(seed), coordinates)[: n // 2].sum() for seed in range(300)]
        return float(np.var(draws))

    assert variance(line) < 0.35 * variance(None)


@pytest.mark.parametrize("name", ["local_pivotal", "ridge_leverage"])
@pytest.mark.parametrize("balanced", [True, False])
def test_reported_probabilities_are_kept_over_seeds(name: str, balanced: bool):
    """Whichever groups get one pick more."""
    posed, trials = problem(balanced=balanced, k=10, include=np.array([4]), exclude=np.arange(10, 20)), 600
    drawn, reported = np.zeros(60), np.zeros(60)
    for seed in range(trials):
        found = METHODS[name](replace(posed, seed=seed))
        drawn[found.indices] += 1
        reported[found.indices] = found.inclusion_probabilities

    assert reported[4] == 1
    assert np.abs(drawn / trials - reported)[drawn > 0].max() < 5 * np.sqrt(0.25 / trials)


def test_the_weighted_mean_of_a_local_pivotal_sample_has_no_bias():
    """Groups of equal mass, equal probabilities inside: the macro mean is met on average."""
    posed = problem(k=9)
    values = np.random.default_rng(5).random(60) + 3 * (posed.groups == "b")
    estimates = []
    for seed in range(500):
        found = METHODS["local_pivotal"](replace(posed, seed=seed))
        estimates.append(found.weights @ values[found.indices])

    assert abs(np.mean(estimates) - posed.mass @ values) < 4 * np.std(estimates) / np.sqrt(500)


def test_hajek_weights_meet_the_mass_of_groups():
    """Each group's picks carry its share, in inverse proportion to their probabilities."""
    posed = problem()
    picks = np.array([0, 1, *(int(np.flatnonzero(posed.groups == name)[0]) for name in "bc")])
    weights = hajek_weights(posed, picks, np.array([0.5, 0.25, 0.1, 0.9]))

    assert np.allclose([1 / 9, 2 / 9, 1 / 3, 1 / 3], weights)


def test_expected_sizes_add_up_to_what_is_picked():
    """Over all groups, includes aside."""
    posed = problem(k=10, include=np.array([4]))

    plan = design(posed, np.random.default_rng(0).random(60) + 0.1)

    assert np.isclose(plan.given_counts.sum(), 9)
    assert np.isclose(plan.overall.sum(), 9)
    assert plan.overall[4] == 0


def test_leverage_is_what_its_formula_says():
    """With the ridge of the tail."""
    rows = np.random.default_rng(0).normal(size=(30, 5))
    values = np.linalg.eigvalsh(rows.T @ rows)[::-1]
    inverse = np.linalg.inv(rows.T @ rows + values[3:].sum() / 3 * np.eye(5))

    assert np.allclose(np.einsum("ij,jk,ik->i", rows, inverse, rows), leverage(rows.astype(np.float32), 3), rtol=1e-5)
