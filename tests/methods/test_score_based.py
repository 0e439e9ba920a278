"""What the methods that look at source models' scores are to find, beyond the laws of all methods."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from benchcore.methods import METHODS
from benchcore.methods.problem import Problem

SCORE_BASED = sorted(
    name for name, entry in METHODS.items() if not (entry.score_free or entry.whole_tasks or "transfer" in entry.needs)
)


def pool(scores: np.ndarray, k: int, groups: str = "", **changes: object) -> Problem:
    n = len(scores)
    names = np.array(list(groups or "a" * n))
    sizes = {name: int((names == name).sum()) for name in names}
    return Problem(
        ids=np.array([f"{row:05d}" for row in range(n)]),
        groups=names,
        mass=np.array([1 / (len(sizes) * sizes[name]) for name in names]),
        features={"scores": scores, "embedding": np.random.default_rng(n).normal(size=(n, 6)).astype(np.float32)},
        k=k,
        **changes,
    )


def binary(n: int, models: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    chances = 1 / (1 + np.exp(2 * random.normal(size=(n, 1)) - random.normal(size=models)))
    return (random.random((n, models)) < chances).astype(np.float64)


@pytest.mark.parametrize("name", SCORE_BASED)
def test_scores_that_are_not_there_are_refused(name: str):
    """No block, no model, no score."""
    for scores in (None, np.zeros((8, 0)), np.full((8, 3), np.nan)):
        posed = pool(np.zeros((8, 1)), 3)
        features = {"embedding": posed.features["embedding"], **({} if scores is None else {"scores": scores})}

        with pytest.raises(ValueError, match="scores"):
            METHODS[name](Problem(posed.ids, posed.groups, posed.mass, features, 3))


@pytest.mark.parametrize("name", SCORE_BASED)
def test_degenerate_scores_are_solved(name: str):
    """One model; all the same; items and models without a score; a group without mass."""
    holes = binary(40, 6)
    holes[3], holes[:, 2] = np.nan, np.nan
    for scores in (binary(40, 1), np.ones((40, 4)), holes, np.full((40, 3), 0.3)):
        posed = pool(scores, 15, "a" * 25 + "b" * 14 + "c")
        mass = np.where(posed.groups == "a", 0.0, posed.mass)
        for each in (posed, Problem(posed.ids, posed.groups, mass / mass.sum(), posed.features, 15)):
            found = METHODS[name](each)

            assert len(set(found.indices.tolist())) == 15
            assert found.weights is None or np.isclose(1, found.weights.sum())


def test_disagreement_and_mid_difficulty_pick_by_variance_and_by_mean():
    """Two models: the items on which they differ; four models: those that half of them get right."""
    two = np.array([[1, 1], [0, 1], [0, 0], [1, 0], [0.4, 0.6]], float)
    four = np.array([[1, 1, 1, 1], [0, 0, 0, 1], [0, 1, 0, 1], [1, 1, 1, 0], [0.5, 0.5, 0.5, np.nan]], float)

    assert METHODS["disagreement"](pool(two, 3)).indices.tolist() == [1, 3, 4]
    assert METHODS["mid_difficulty"](pool(four, 2)).indices.tolist() == [2, 4]


def test_anchor_points_are_nearly_the_best_medoids():
    """Within 5 % of the best of all sets on small pools, on average; each stands for its cluster's mass."""
    found, best = 0.0, 0.0
    for seed in range(5):
        posed = pool(binary(16, 12, seed), 3)
        scores = posed.features["scores"]
        keep = scores.std(axis=1) > 0
        posed = pool(scores[keep], 3)
        distance = 1 - np.corrcoef(scores[keep])
        selection = METHODS["anchor_points"](posed)
        found += distance[:, selection.indices].min(axis=1).mean()
        best += min(distance[:, list(three)].min(axis=1).mean() for three in combinations(range(keep.sum()), 3))
        nearest = distance[:, selection.indices].argmin(axis=1)
        assert np.allclose(np.bincount(nearest, posed.mass, 3), selection.weights, atol=2 / keep.sum())

    assert found <= 1.05 * best


@pytest.mark.parametrize("name", ["anchor_points", "tiny_correctness"])
def test_copies_of_a_few_patterns_are_found_and_weighed(name: str):
    """Four kinds of items, in unequal numbers: one pick of each, and the whole is estimated exactly."""
    kinds = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [1, 0, 0, 1, 0], [0, 0, 1, 1, 1]], float)
    kind = np.random.default_rng(0).choice(4, 80, p=[0.5, 0.3, 0.1, 0.1])
    posed = pool(kinds[kind], 4)

    found = METHODS[name](posed)

    assert sorted(kind[found.indices]) == [0, 1, 2, 3]
    assert np.allclose(posed.mass @ kinds[kind], found.weights @ kinds[kind][found.indices])


@pytest.mark.parametrize("name", ["optimal_random_search", "panel_balanced", "panel_swaps"])
def test_source_models_score_on_the_picks_what_they_score_on_the_pool(name: str):
    """Several times nearer than on a balanced draw."""
    scores = binary(300, 5)
    posed = pool(scores, 60, "a" * 150 + "b" * 100 + "c" * 50)

    def missed(method: str, seed: int) -> float:
        picks = METHODS[method](pool(scores, 60, "".join(posed.groups), seed=seed)).indices
        means = [scores[picks][posed.groups[picks] == group].mean(axis=0) for group in "abc"]
        return float(np.abs(np.mean(means, axis=0) - posed.mass @ scores).mean())

    control = np.mean([missed("random", seed) for seed in range(30)])

    assert np.mean([missed(name, seed) for seed in range(3)]) < control / 3


def test_the_search_holds_few_scores_at_a_time_and_finds_the_best_draw():
    """2,000 draws of 100 items with 60 models' scores would be 96 MB; in pieces, too, it beats 98 % of draws."""
    posed = pool(binary(150, 60), 100)
    scores = posed.features["scores"]

    tracemalloc.start()
    picks = METHODS["optimal_random_search"](posed).indices
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    generator = np.random.default_rng(1)
    draws = np.array([generator.permutation(150)[:100] for _ in range(500)])
    missed = np.abs(scores[draws].mean(axis=1) - posed.mass @ scores).mean(axis=1)
    assert peak < 80e6
    assert np.abs(scores[picks].mean(axis=0) - posed.mass @ scores).mean() < np.quantile(missed, 0.02)


@pytest.mark.parametrize("name", ["panel_balanced", "panel_swaps"])
def test_panel_balance_keeps_the_spread_of_skewed_scores(name: str):
    """A few items with large scores: their number among the picks stays what it is in the pool."""
    random = np.random.default_rng(0)
    large = random.random(600) < 0.1
    scores = np.clip(np.where(large[:, None], 0.7, 0.02) + 0.1 * random.normal(size=(600, 4)), 0, 1)

    counts = [large[METHODS[name](pool(scores, 80, seed=seed)).indices].sum() for seed in range(5)]

    assert np.abs(np.array(counts) - 80 * large.mean()).max() <= 1.5


def test_panel_swaps_balance_texts_too():
    """In each group the mean direction is that of the group: half as far off as in a draw or on balanced scores."""
    posed = [pool(binary(300, 3), 60, "a" * 200 + "b" * 100, seed=seed) for seed in range(10)]
    vectors = posed[0].features["embedding"]
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def missed(name: str) -> float:
        means = [
            units[picks[problem.groups[picks] == group]].mean(axis=0) - units[problem.groups == group].mean(axis=0)
            for problem in posed
            for group in "ab"
            for picks in [METHODS[name](problem).indices]
        ]
        return float(np.linalg.norm(means, axis=1).mean())

    assert missed("panel_swaps") < 0.5 * min(missed("random"), missed("panel_balanced"))


def test_ridge_forward_is_the_greedy_regression():
    """The same picks and explained shares as solving the regression anew for every candidate."""
    scores = binary(25, 9)
    posed = pool(scores, 6)
    deviations = (scores - scores.mean(axis=1, keepdims=True)) / 3
    target = posed.mass @ deviations
    noise = 0.5 * (deviations**2).sum(axis=1).mean()

    def explained(picks: list[int]) -> float:
        inner = deviations[picks] @ deviations[picks].T + noise * np.eye(len(picks))
        covariance = deviations[picks] @ target
        return float(covariance @ np.linalg.solve(inner, covariance) / (target @ target))

    found = METHODS["ridge_forward"](posed)

    for step in range(6):
        before = found.indices[:step].tolist()
        best = max(explained([*before, item]) for item in range(25) if item not in before)
        assert np.isclose(best, found.gains[: step + 1].sum())
    assert np.isclose(explained(found.indices.tolist()), found.value)
