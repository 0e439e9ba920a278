"""One battery of laws that every named estimator obeys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.estimation import ESTIMATORS
from benchcore.estimation.estimator import Sample
from benchcore.estimation.group_weights import macro_weights
from benchcore.estimation.item_response import estimate_abilities, fit_item_response, probabilities
from benchcore.estimation.kernel_weights import kernel_quadrature_weights
from benchcore.estimation.shrunk_weights import effective_number, shrunk_weights

LINEAR = sorted(name for name, entry in ESTIMATORS.items() if entry.linear)
PANEL = sorted(name for name, entry in ESTIMATORS.items() if entry.needs_panel)
# These have a slope that a constant score makes zero; those of item response theory expect a scale of 0 to 1.
REGRESSIONS = ["aipw", "panel_ridge"]
EVERY = pytest.mark.parametrize("name", sorted(ESTIMATORS))


def pool(seed: int = 0, n: int = 90, models: int = 12, difficulty: float = 1.0) -> tuple[Sample, np.ndarray]:
    """A sample of a third of a pool of unequal groups, and six models' scores on the whole pool; six are its panel."""
    random = np.random.default_rng(seed)
    groups = np.sort(random.choice(4, n, p=[0.5, 0.3, 0.15, 0.05]))
    groups = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(groups)
    ability, hard = random.normal(size=models), difficulty * random.normal(size=(n, 1))
    scores = (random.random((n, models)) < 1 / (1 + np.exp(hard - ability))).astype(np.float64)
    picks = np.concatenate([np.flatnonzero(groups == group)[: 1 + size // 3] for group, size in enumerate(sizes)])
    sample = Sample(
        indices=random.permutation(picks),
        groups=groups,
        mass=1 / (len(sizes) * sizes[groups]),
        features={"embedding": random.normal(size=(n, 8)).astype(np.float32)},
        own=random.dirichlet(np.ones(len(picks))),
        panel=scores[:, models // 2 :],
    )
    return sample, scores[:, : models // 2]


@EVERY
def test_a_census_is_exact(name: str):
    """With every row picked the estimate is the truth; plain and own weights are what they are."""
    sample, scores = pool()
    n = len(sample.groups)
    order = np.random.default_rng(1).permutation(n)
    census = replace(sample, indices=order, own=sample.mass[order])
    if name == "plain":
        census = replace(census, mass=np.full(n, 1 / n))

    assert np.allclose(census.mass @ scores, ESTIMATORS[name](census, scores[order]), atol=1e-6)


@pytest.mark.parametrize("name", sorted({*LINEAR, *REGRESSIONS}))
def test_constant_shifted_and_scaled_scores(name: str):
    """A constant is returned as it is, and a change of scale changes the estimates alike."""
    sample, scores = pool(1)
    picked = scores[sample.indices] + np.linspace(0, 0.1, len(sample.indices))[:, None]

    estimate = ESTIMATORS[name](sample, picked)

    assert np.allclose(0.7, ESTIMATORS[name](sample, np.full_like(picked, 0.7)))
    assert np.allclose(3 * estimate - 2, ESTIMATORS[name](sample, 3 * picked - 2))


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("seed", range(3))
def test_weights_sum_to_one_and_are_the_estimate(name: str, seed: int):
    """A linear estimator is its weights."""
    sample, scores = pool(seed)

    weights = ESTIMATORS[name].weights(sample)

    assert np.isclose(1, weights.sum())
    assert name == "kernel_ridge" or weights.min() >= -1e-12
    assert np.allclose(weights @ scores[sample.indices], ESTIMATORS[name](sample, scores[sample.indices]))


@EVERY
def test_the_order_of_rows_and_picks_changes_nothing(name: str):
    """Rows are known by what is in them."""
    sample, scores = pool(2)
    random = np.random.default_rng(0)
    order, shuffled = random.permutation(len(sample.groups)), random.permutation(len(sample.indices))
    place = np.argsort(order)
    moved = Sample(
        indices=place[sample.indices][shuffled],
        groups=sample.groups[order],
        mass=sample.mass[order],
        features={block: rows[order] for block, rows in sample.features.items()},
        own=sample.own[shuffled],
        panel=sample.panel[order],
    )

    before = ESTIMATORS[name](sample, scores[sample.indices])

    assert np.allclose(before, ESTIMATORS[name](moved, scores[order][moved.indices]), atol=1e-6)


@EVERY
def test_the_same_sample_gives_the_same_estimates(name: str):
    """Bit by bit."""
    sample, scores = pool(3)

    first = ESTIMATORS[name](sample, scores[sample.indices])

    assert first.tolist() == ESTIMATORS[name](sample, scores[sample.indices]).tolist()


@EVERY
def test_missing_scores_concern_their_model_alone(name: str):
    """A model is estimated from what it has; NaN is for a model that has nothing."""
    sample, scores = pool(4)
    picked = scores[sample.indices]
    holes = picked.copy()
    holes[::3, 1], holes[:, 2] = np.nan, np.nan
    holes[sample.groups[sample.indices] == 0, 3] = np.nan  # a whole group

    before, after = ESTIMATORS[name](sample, picked), ESTIMATORS[name](sample, holes)

    assert np.isnan(after).tolist() == [False, False, True, False, False, False]
    # The blend of gp-IRT looks at one model at a time too, so nothing else may move.
    assert np.allclose(before[[0, 4, 5]], after[[0, 4, 5]], atol=1e-9)
    assert (np.abs(after[[1, 3]]) < 1.5).all()


@EVERY
def test_one_pick_and_a_group_of_one(name: str):
    """The smallest samples are estimated too: finite, between 0 and 1."""
    sample, scores = pool(5, n=12)
    single = replace(sample, indices=sample.indices[:1], own=np.ones(1))
    groups = np.zeros(12, np.int64)
    groups[3] = 1
    lonely = replace(sample, groups=groups, mass=np.where(groups == 1, 0.5, 0.5 / 11), indices=np.array([3, 0, 5]))
    lonely = replace(lonely, own=np.full(3, 1 / 3))

    for small in (single, lonely):
        estimate = ESTIMATORS[name](small, scores[small.indices])
        assert np.isfinite(estimate).all()
        assert (np.abs(estimate - 0.5) < 1.0).all()


@EVERY
def test_duplicate_rows_and_groups_without_mass_do_no_harm(name: str):
    """Equal vectors, and a group that counts for nothing."""
    sample, scores = pool(6)
    mass = np.where(sample.groups == 0, 0.0, sample.mass)
    equal = replace(sample, mass=mass / mass.sum(), features={"embedding": np.ones_like(sample.features["embedding"])})

    assert np.isfinite(ESTIMATORS[name](equal, scores[sample.indices])).all()


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"plain", "macro", "own"}))
def test_what_an_estimator_needs_it_says(name: str):
    """A sample without it is refused with its name."""
    sample, scores = pool(7)
    bare = replace(sample, panel=None, features={})

    with pytest.raises(ValueError, match="panel" if ESTIMATORS[name].needs_panel else "embedding"):
        ESTIMATORS[name](bare, scores[sample.indices])


def test_own_weights_that_are_not_there_are_refused():
    """Rather than replaced by others."""
    sample, scores = pool(7)

    with pytest.raises(ValueError, match="no weights of its own"):
        ESTIMATORS["own"](replace(sample, own=None), scores[sample.indices])


def test_macro_is_the_mean_of_group_means_and_absent_groups_lend():
    """By hand."""
    sample = Sample(
        indices=np.array([0, 1, 4]),
        groups=np.array([0, 0, 0, 1, 1, 2]),
        mass=np.array([0.1, 0.1, 0.1, 0.15, 0.15, 0.4]),
        features={},
    )
    scores = np.array([[1.0, np.nan], [0.0, 0.5], [0.25, 1.0]])

    assert np.allclose([0.25, 0.25, 0.5], macro_weights(sample))
    assert np.allclose([0.375, 0.75], ESTIMATORS["macro"](sample, scores))
    assert np.allclose([1.25 / 3, 0.75], ESTIMATORS["plain"](sample, scores))


def test_raked_and_in_groups_meet_the_groups_masses():
    """Exactly, where every group has a pick."""
    sample, _ = pool(8)
    groups = sample.groups[sample.indices]

    for name in ("macro", "raked", "voronoi_in_groups"):
        weights = ESTIMATORS[name].weights(sample)
        assert np.allclose(np.bincount(sample.groups, sample.mass), np.bincount(groups, weights))


def test_quadrature_integrates_a_smooth_function_better_than_equal_weights():
    """Scores that are smooth in the vectors, from picks that lie on one side of them."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 3)).astype(np.float32)
    picks = np.argsort(-rows[:, 0] + 0.8 * random.normal(size=400))[:60]
    sample = Sample(picks, np.zeros(400, np.int64), np.full(400, 1 / 400), {"embedding": rows})
    smooth = np.tanh(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    error = np.abs(kernel_quadrature_weights(sample) @ smooth[picks] - smooth.mean(axis=0))

    assert error.max() < 0.3 * np.abs(smooth[picks].mean(axis=0) - smooth.mean(axis=0)).max()


@pytest.mark.parametrize("seed", range(3))
def test_shrinking_keeps_the_effective_number_of_picks(seed: int):
    """95 % of what macro weights have, and it does move."""
    sample, _ = pool(seed)

    weights, macro = shrunk_weights(sample), macro_weights(sample)

    assert effective_number(weights) >= 0.95 * effective_number(macro) - 1e-9
    assert not np.allclose(weights, macro)


@pytest.mark.parametrize("name", PANEL)
def test_a_panel_pays_where_items_differ_in_difficulty(name: str):
    """Averaged over draws the error is below nine tenths of the macro mean's."""
    error, control = 0.0, 0.0
    for seed in range(12):
        sample, scores = pool(seed, n=600, models=20, difficulty=2.5)
        random = np.random.default_rng(seed)
        sample = replace(sample, indices=random.permutation(600)[:60])
        truth = sample.mass @ scores
        error += np.abs(ESTIMATORS[name](sample, scores[sample.indices]) - truth).mean()
        control += np.abs(ESTIMATORS["macro"](sample, scores[sample.indices]) - truth).mean()

    assert error < 0.9 * control


def test_item_response_finds_the_parameters_it_was_made_with():
    """Difficulty, ability and, with many models, which items tell them apart; gaps and constant items included."""
    random = np.random.default_rng(0)
    slopes, intercepts, abilities = random.uniform(0.5, 2, 300), random.normal(size=300), random.normal(size=80)
    chances = probabilities(np.column_stack([slopes, intercepts]), abilities)
    scores = (random.random(chances.shape) < chances).astype(np.float64)
    scores[random.random(scores.shape) < 0.05] = np.nan
    scores[0], scores[1] = 1.0, np.nan

    fitted = fit_item_response(scores)

    assert np.corrcoef(intercepts[2:], fitted.intercepts[2:])[0, 1] > 0.9
    assert np.corrcoef(slopes[2:], fitted.slopes[2:])[0, 1] > 0.6
    assert np.corrcoef(abilities, fitted.abilities)[0, 1] > 0.97
    assert np.isfinite(fitted.parameters).all()
    assert np.allclose(fitted.abilities, estimate_abilities(fitted.parameters, scores), atol=0.25)


@pytest.mark.parametrize("name", ["panel_ridge", "irt_difference", "irt_blend"])
def test_picks_that_the_panel_cannot_tell_apart_make_no_slope_wild(name: str):
    """All of middling difficulty: the estimates stay between 0 and 1."""
    sample, scores = pool(9, n=600, models=20, difficulty=2.5)
    middling = np.argsort(np.abs(sample.panel.mean(axis=1) - 0.5), kind="stable")[:20]

    estimate = ESTIMATORS[name](replace(sample, indices=middling), scores[middling])

    assert ((estimate > 0) & (estimate < 1)).all()
