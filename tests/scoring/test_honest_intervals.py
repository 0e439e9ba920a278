"""Intervals of simulated models hold the truth as often as they say, also where picks are planted to mislead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from benchcore.estimation.intervals import stratified_intervals
from benchcore.methods import DEFAULT, METHODS
from benchcore.methods.problem import Problem
from benchcore.methods.stratified_random import stratified_random
from tests.scoring.simulated import answers, binomial_band, difficulty_from, groups_standardised

REPETITIONS, BENCHMARKS, PROMPTS, K, AUDIT = 200, 6, 960, 120, 60
_PLANTED = 3.0  # times as hard as its vectors usually make a prompt


@dataclass(frozen=True)
class Population:
    """Prompts in clusters; `apart` says how far from its cluster's centre a prompt lies."""

    problem: Problem
    groups: NDArray[np.int64]
    apart: NDArray[np.float64]
    _picked: dict[tuple[str, int], NDArray[np.int64]] = field(default_factory=dict)

    def picked(self, method: str, seed: int) -> NDArray[np.int64]:
        """The picks of a method, which several tests ask for."""
        if (method, seed) not in self._picked:
            self._picked[method, seed] = METHODS[method](replace(self.problem, seed=seed)).indices
        return self._picked[method, seed]

    def macro(self, rows: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(models,) mean over benchmarks of the mean score of some prompts inside each."""
        groups, inside = self.groups[rows], scores[rows]
        return np.array([inside[groups == group].mean(axis=0) for group in range(BENCHMARKS)]).mean(axis=0)

    def truth(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(models,) the same of all prompts."""
        return self.macro(np.arange(PROMPTS), scores)

    def interval_holds(self, picks: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(models,) whether the interval from these picks holds the truth."""
        sizes = np.bincount(self.groups).astype(np.float64)
        shares = np.full(BENCHMARKS, 1 / BENCHMARKS)
        found, truth = stratified_intervals(scores[picks], self.groups[picks], sizes, shares), self.truth(scores)
        return (found.low <= truth) & (truth <= found.high)


@pytest.fixture(scope="module")
def population() -> Population:
    generator = np.random.default_rng(5)
    groups = np.repeat(np.arange(BENCHMARKS), PROMPTS // BENCHMARKS)
    away = generator.normal(size=(PROMPTS, 16)) * generator.gamma(1.5, 0.4, size=PROMPTS)[:, None]
    vectors = generator.normal(size=(30, 16))[generator.integers(0, 30, PROMPTS)] + away
    problem = Problem(
        ids=np.array([f"p{row:04d}" for row in range(PROMPTS)]),
        groups=groups.astype(np.str_),
        mass=np.full(PROMPTS, 1 / PROMPTS),
        features={"embedding": vectors.astype(np.float32)},
        k=K,
    )
    return Population(problem, groups, groups_standardised(np.linalg.norm(away, axis=1), groups))


def coverage(
    population: Population,
    pick: Callable[[int], NDArray[np.int64]],
    difficulty: Callable[[np.random.Generator], NDArray[np.float64]],
    repetitions: int = REPETITIONS,
) -> NDArray[np.float64]:
    """(models,) share of repetitions, each with its own draw and its own simulated models, whose interval holds."""
    held = []
    for repetition in range(repetitions):
        generator = np.random.default_rng([7, repetition])
        scores = answers(difficulty(generator), generator)
        held.append(population.interval_holds(pick(repetition), scores))
    return np.mean(held, axis=0)


@pytest.mark.parametrize("method", [DEFAULT, "local_pivotal"])
@pytest.mark.parametrize("planted", [False, True])
def test_intervals_of_drawn_picks_hold_at_their_nominal_rate(population: Population, method: str, planted: bool):
    """Each of the three models' rates lies in the binomial band, also where a prompt's place makes it hard."""

    def difficulty(generator: np.random.Generator) -> NDArray[np.float64]:
        if planted:
            return _PLANTED * population.apart
        return difficulty_from(population.problem.features["embedding"], population.groups, generator)

    low, high = binomial_band(0.95, REPETITIONS)
    rates = coverage(population, lambda seed: population.picked(method, seed), difficulty)
    assert ((low <= rates) & (rates <= high)).all(), rates


def test_an_audit_slice_is_honest_where_the_picks_beside_it_mislead(population: Population):
    """Facility location takes the middle of clusters; where what is apart is hard, that looks too easy."""

    def audit(seed: int) -> NDArray[np.int64]:
        return stratified_random(replace(population.problem, k=AUDIT, seed=seed)).indices

    def core(seed: int) -> NDArray[np.int64]:
        beside = replace(population.problem, k=2 * K, exclude=audit(seed), seed=seed)
        return METHODS["facility_location"](beside).indices

    def difficulty(_generator: np.random.Generator) -> NDArray[np.float64]:
        return _PLANTED * population.apart

    low, high = binomial_band(0.95, REPETITIONS)
    honest, misled = coverage(population, audit, difficulty), coverage(population, core, difficulty, 40)
    assert ((low <= honest) & (honest <= high)).all(), honest
    assert misled.min() < 0.7, misled


def test_the_default_errs_at_most_as_much_as_balanced_random(population: Population):
    """Root mean squared error over draws and simulated models, relative to that of the control: at most 1.05."""
    squares = {DEFAULT: 0.0, "random": 0.0}
    for repetition in range(REPETITIONS):
        picks = {
            DEFAULT: population.picked(DEFAULT, repetition),
            "random": stratified_random(replace(population.problem, seed=repetition)).indices,
        }
        for again in range(5):
            generator = np.random.default_rng([11, repetition, again])
            vectors = population.problem.features["embedding"]
            scores = answers(difficulty_from(vectors, population.groups, generator), generator)
            for name, rows in picks.items():
                estimate = population.macro(rows, scores)
                squares[name] += ((estimate - population.truth(scores)) ** 2).sum()
    ratio = np.sqrt(squares[DEFAULT] / squares["random"])
    assert ratio <= 1.05
    assert ratio < 1.0  # a twentieth of what makes prompts hard is in their vectors
