"""An alarm for models that find other items hard: rare for models like the others, likely for strangers."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.estimation.departure import Departure, departure, usual

REPEATS = 200


def held(scores: np.ndarray, others: np.ndarray, groups: np.ndarray) -> Departure | None:
    return departure(scores, others.mean(axis=1), usual(others, groups), groups)


def alarms(k: int, others: int, *, strength: float | None = None, stranger: bool = False) -> float:
    """Share of alarms for a model whose answers follow the others' difficulty of items, or one of its own."""
    generator, found = np.random.default_rng(0), 0
    for _ in range(REPEATS):
        difficulty, slopes = generator.normal(size=k), generator.uniform(0.6, 1.4, others + 1)
        levels = generator.uniform(-1, 1.5, others + 1)
        if strength is not None:
            levels[-1] = strength
        latent = difficulty[:, None] * slopes + levels + generator.normal(size=(k, others + 1))
        if stranger:
            latent[:, -1] = generator.normal(size=k) * 1.4 + levels[-1]
        scores = (latent > 0).astype(np.float64)
        told = held(scores[:, -1], scores[:, :-1], np.arange(k) % 5)
        found += told is not None and told.departs
    return found / REPEATS


@pytest.mark.parametrize(
    ("k", "others", "strength"), [(50, 5, None), (50, 5, 2.5), (100, 10, None), (100, 10, -1.5), (150, 15, None)]
)
def test_models_like_the_others_seldom_raise_it(k: int, others: int, strength: float | None):
    """At most one in twenty, whether they are as strong, far stronger or far weaker."""
    assert alarms(k, others, strength=strength) <= 0.05 + 1.96 * np.sqrt(0.05 * 0.95 / REPEATS)


def test_strangers_raise_it():
    """More surely with more picks and more others."""
    few, many = alarms(100, 10, stranger=True), alarms(150, 15, stranger=True)

    assert 0.8 < few <= many
    assert many > 0.95


def test_nothing_is_usual_of_few_or_of_models_that_tell_nothing_apart():
    generator = np.random.default_rng(0)
    scores, groups = generator.integers(0, 2, (40, 8)).astype(np.float64), np.zeros(40, np.int64)

    assert held(scores[:, 0], scores[:, 1:5], groups) is None
    assert held(np.ones(40), scores[:, 1:], groups) is None
    assert held(scores[:, 0], np.ones((40, 6)), groups) is None
