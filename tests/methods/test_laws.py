"""One battery of laws that every named method obeys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.methods import METHODS
from benchcore.methods.id_order import SQUARE
from benchcore.methods.problem import Problem, Selection
from benchcore.submodular.constraints.rounds import follows_rounds

EVERY_METHOD = pytest.mark.parametrize("name", sorted(METHODS))
EQUAL = {"embedding": np.ones((60, 3), np.float32), "scores": np.ones((60, 3)), "transfer": np.ones((60, 60))}
NESTED = [name for name, entry in sorted(METHODS.items()) if entry.nested]


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
        features={
            "embedding": vectors,
            "surface": random.normal(size=(n, 3)) * [1, 100, 0],
            "ngrams": random.random(size=(n, 5)).astype(np.float32),
            "scores": source_scores(seed, n),
            "transfer": random.random((n, n)),
        },
        k=k,
    )
    return replace(made, **changes)


def source_scores(seed: int, n: int) -> np.ndarray:
    """Six source models' scores, some of them missing, on items of different difficulty."""
    random = np.random.default_rng(seed + 1000)
    scores = (random.random((n, 6)) < random.random((n, 1))).astype(np.float64)
    scores[random.random((n, 6)) < 0.1] = np.nan
    scores[0] = np.where(np.isnan(scores[0]), 1.0, scores[0])
    return scores


def without_ties(seed: int = 0, n: int = 60) -> Problem:
    """The same with no equal rows."""
    posed = problem(seed, n)
    vectors = np.random.default_rng(seed + 50).normal(size=(n, 12)).astype(np.float32)
    return replace(posed, features={**posed.features, "embedding": vectors})


def permuted(posed: Problem, order: np.ndarray) -> Problem:
    """The same rows in another order, with their ids."""
    return replace(
        posed,
        ids=posed.ids[order],
        groups=posed.groups[order],
        mass=posed.mass[order],
        features={
            name: block[np.ix_(order, order)] if name in SQUARE else block[order]
            for name, block in posed.features.items()
        },
        include=np.argsort(order)[posed.include],
        exclude=np.argsort(order)[posed.exclude],
    )


def same(one: Selection, other: Selection) -> bool:
    return one.indices.tolist() == other.indices.tolist() and one.gains.tolist() == other.gains.tolist()


@EVERY_METHOD
@pytest.mark.parametrize("seed", range(4))
def test_picks_are_k_distinct_rows_in_balance(name: str, seed: int):
    """And gains, roles and probabilities go with them."""
    posed = problem(seed)

    found = METHODS[name](posed)

    assert len(found.indices) == len(set(found.indices.tolist())) == len(found.gains) == len(found.roles) == posed.k
    if METHODS[name].balances:
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
    assert len(set(found.tolist())) == len(found) == posed.k
    if METHODS[name].balances:
        assert follows_rounds(found[3:], posed.turns, posed.available, posed.given)


@pytest.mark.parametrize("name", [name for name, entry in sorted(METHODS.items()) if not entry.balances])
def test_what_does_not_balance_takes_no_notice_of_it(name: str):
    """The same picks either way."""
    balanced, free = (METHODS[name](problem(balanced=balanced)).indices.tolist() for balanced in (True, False))

    assert balanced == free


@EVERY_METHOD
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("include", [[], [40, 3, 4]])
def test_own_weights_are_positive_and_sum_to_one(name: str, balanced: bool, include: list[int]):
    """One for each pick, where a method has its own."""
    posed = problem(balanced=balanced, include=np.array(include, np.int64))

    weights = METHODS[name](posed).weights

    if weights is not None:
        assert weights.shape == (posed.k,)
        assert (weights > 0).all()
        assert np.isclose(weights.sum(), 1)


@pytest.mark.parametrize("name", NESTED)
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
    equal = problem(features=EQUAL, k=60)

    assert sorted(everything.indices.tolist()) == list(range(60))
    assert alone.indices.tolist() == [0]
    assert sorted(METHODS[name](equal).indices.tolist()) == list(range(60))


@EVERY_METHOD
def test_groups_of_one_and_fewer_picks_than_groups(name: str):
    """A group of one gives its one; with fewer picks than groups some have none."""
    alone = problem(groups=np.array([f"g{min(row, 5)}" for row in range(60)]), k=12)
    few = METHODS[name](problem(k=2))

    found = METHODS[name](alone).indices

    assert len(set(few.indices.tolist())) == 2
    assert len(set(found.tolist())) == 12
    if METHODS[name].balances:
        assert set(range(5)) <= set(found.tolist())


@EVERY_METHOD
@pytest.mark.parametrize("balanced", [True, False])
def test_equal_rows_and_groups_that_weigh_nothing(name: str, balanced: bool):
    """Still k distinct picks, with finite weights."""
    equal = METHODS[name](problem(features=EQUAL, balanced=balanced))
    posed = problem(balanced=balanced)
    mass = np.where(posed.groups == "a", 0.0, posed.mass)
    weightless = METHODS[name](replace(posed, mass=mass / mass.sum()))

    for found in (equal, weightless):
        assert len(set(found.indices.tolist())) == 17
        assert found.weights is None or (np.isfinite(found.weights).all() and np.isclose(found.weights.sum(), 1))


@EVERY_METHOD
@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_rows_changes_nothing(name: str, seed: int):
    """The same ids in the same order."""
    posed = replace(without_ties(seed), include=np.array([40, 3]), exclude=np.array([7]))
    other = permuted(posed, np.random.default_rng(9).permutation(posed.n))

    one, two = METHODS[name](posed), METHODS[name](other)

    assert posed.ids[one.indices].tolist() == other.ids[two.indices].tolist()
    if one.weights is not None:
        assert np.array_equal(one.weights, two.weights)


@EVERY_METHOD
def test_the_length_of_vectors_changes_nothing(name: str):
    """Three times as long."""
    posed = without_ties()
    longer = replace(posed, features={**posed.features, "embedding": posed.features["embedding"] * np.float32(3)})

    assert METHODS[name](posed).indices.tolist() == METHODS[name](longer).indices.tolist()


@EVERY_METHOD
def test_seeds_matter_where_something_is_drawn(name: str):
    """And nowhere else."""
    picks = {tuple(METHODS[name](replace(problem(), seed=seed)).indices.tolist()) for seed in range(5)}

    assert (len(picks) > 1) == METHODS[name].drawn


@EVERY_METHOD
def test_the_same_problem_gives_the_same_selection(name: str):
    """Bit by bit."""
    assert same(METHODS[name](problem(3)), METHODS[name](problem(3)))


@EVERY_METHOD
def test_value_gains_and_certificate_agree(name: str):
    """Gains add up to the value, which is not negative and below its bound."""
    found = METHODS[name](problem(5))

    assert np.isclose(found.gains.sum(), found.value)
    assert found.value >= 0
    if found.certificate is not None:
        assert found.value <= found.certificate.upper_bound * (1 + 1e-12)
        assert np.isclose(found.certificate.ratio, found.value / found.certificate.upper_bound)


def test_a_random_draw_depends_on_its_seed_and_keeps_its_probabilities():
    """Each row is drawn as often as its inclusion probability says."""
    drawn, k, trials = np.zeros(60), 6, 4000
    for seed in range(trials):
        found = METHODS["random"](replace(problem(k=k), seed=seed))
        drawn[found.indices] += 1 / found.inclusion_probabilities

    assert np.abs(drawn / trials - 1).max() < 0.35  # more than five standard errors of the rarest row
    assert np.isclose(drawn.sum() / trials, 60, rtol=0.02)
