"""One battery of laws that every named method obeys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.methods import METHODS
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.constraints.rounds import follows_rounds

EVERY_METHOD = pytest.mark.parametrize("name", sorted(METHODS))


def problem(seed: int = 0, n: int = 60, k: int = 17, **changes: object) -> Problem:
    """A pool with duplicate rows and four groups of unequal size."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(n, 12)).astype(np.float32)
    vectors[n // 2 : n // 2 + n // 6] = vectors[: n // 6]
    groups = np.sort(random.choice(list("abcd"), n, p=[0.6, 0.25, 0.1, 0.05]))
    sizes = {group: (groups == group).sum() for group in np.unique(groups)}
    made = Problem(
        ids=np.array([f"{row:04d}" for row in range(n)]),
        groups=groups,
        mass=np.array([1 / (len(sizes) * sizes[group]) for group in groups]),
        features={"embedding": vectors},
        k=k,
    )
    return replace(made, **changes)


def same(one: Selection, other: Selection) -> bool:
    return one.indices.tolist() == other.indices.tolist() and one.gains.tolist() == other.gains.tolist()


@EVERY_METHOD
@pytest.mark.parametrize("seed", range(4))
def test_picks_are_k_distinct_rows_in_balance(name: str, seed: int):
    """And gains, roles and probabilities go with them."""
    posed = problem(seed)

    found = METHODS[name](posed)

    assert len(found.indices) == len(set(found.indices.tolist())) == len(found.gains) == len(found.roles) == posed.k
    assert follows_rounds(found.indices, posed.turns)
    if found.inclusion_probabilities is not None:
        assert ((found.inclusion_probabilities > 0) & (found.inclusion_probabilities <= 1)).all()


@EVERY_METHOD
@pytest.mark.parametrize("balanced", [True, False])
def test_includes_come_first_and_excludes_never(name: str, balanced: bool):
    """In the order given, even where an include is out of turn."""
    include, exclude = np.array([40, 3, 4]), np.arange(10, 30)
    posed = problem(k=25, balanced=balanced, include=include, exclude=exclude)

    found = METHODS[name](posed).indices

    assert include.tolist() == found[:3].tolist()
    assert not np.isin(found, exclude).any()
    assert follows_rounds(found[3:], posed.turns, posed.available, posed.given)


@EVERY_METHOD
@pytest.mark.parametrize("balanced", [True, False])
def test_a_smaller_k_is_a_prefix(name: str, balanced: bool):
    """Nested."""
    large = METHODS[name](problem(k=30, balanced=balanced))
    small = METHODS[name](problem(k=8, balanced=balanced))

    assert large.indices[:8].tolist() == small.indices.tolist()


@EVERY_METHOD
def test_everything_and_a_single_row_can_be_picked(name: str):
    """k equal to n, n equal to 1, and a pool of equal rows."""
    everything = METHODS[name](problem(k=60))
    alone = METHODS[name](problem(n=1, k=1))
    equal = problem(features={"embedding": np.ones((60, 3), np.float32)}, k=60)

    assert sorted(everything.indices.tolist()) == list(range(60))
    assert alone.indices.tolist() == [0]
    assert sorted(METHODS[name](equal).indices.tolist()) == list(range(60))


@EVERY_METHOD
def test_the_same_problem_gives_the_same_selection(name: str):
    """Bit by bit."""
    assert same(METHODS[name](problem(3)), METHODS[name](problem(3)))


@EVERY_METHOD
def test_value_gains_and_certificate_agree(name: str):
    """Gains add up to the value, which lies in [0, 1] and below its bound."""
    found = METHODS[name](problem(5))

    assert np.isclose(found.gains.sum(), found.value)
    assert 0 <= found.value <= 1
    if found.certificate is not None:
        assert found.value <= found.certificate.upper_bound
        assert np.isclose(found.certificate.ratio, found.value / found.certificate.upper_bound)


def test_a_random_draw_depends_on_its_seed_and_keeps_its_probabilities():
    """Each row is drawn as often as its inclusion probability says."""
    drawn, k, trials = np.zeros(60), 6, 4000
    for seed in range(trials):
        found = METHODS["random"](replace(problem(k=k), seed=seed))
        drawn[found.indices] += 1 / found.inclusion_probabilities

    assert np.abs(drawn / trials - 1).max() < 0.35  # more than five standard errors of the rarest row
    assert np.isclose(drawn.sum() / trials, 60, rtol=0.02)
