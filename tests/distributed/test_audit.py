"""The audit slice: drawn at random, first, beside the method's picks and never among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import binom

from benchcore.config import Config, SelectSection
from benchcore.distributed.audit import joined, set_apart
from benchcore.distributed.identity import Identity
from benchcore.distributed.job import coreset_id_of, orders, select
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import plan_of, problem_of
from benchcore.distributed.prefixes import coverage_of
from benchcore.distributed.whole_pool import WholePool
from benchcore.errors import UsageError
from benchcore.methods import DEFAULT, METHODS
from benchcore.registry.manifests import find_manifest, read_picks, read_weights
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin
from benchcore.submodular.constraints.rounds import follows_rounds

Made = tuple[Config, Registry, Pool]
Make = Callable[..., Made]
AUDIT = 20


def with_select(config: Config, **values: Any) -> Config:
    return config.model_copy(update={"select": config.select.model_copy(update=values)})


@pytest.fixture
def audited(made: Make) -> Made:
    """400 of 520 prompts, 20 of them drawn."""
    return made(n=520, k=400, audit=AUDIT, method=DEFAULT, shard_size=200)


def test_the_rest_is_what_the_method_picks_where_the_slice_is_excluded(audited: Made):
    """So the slice is never swapped, and never a candidate."""
    config, registry, pool = audited
    slice_, _ = set_apart(problem_of(config, pool)[0], AUDIT)
    excluding = with_select(config, k=400 - AUDIT, audit=0, exclude=tuple(pool.prompt_id[slice_.indices].tolist()))

    found = orders(config, registry, pool, pin(registry, ["embeddings"]))
    alone = orders(excluding, registry, pool, pin(registry, ["embeddings"]))

    assert found.audit.tolist() == slice_.indices.tolist()
    assert found.picks(400)[:-AUDIT].tolist() == alone.picks(400 - AUDIT).tolist()
    assert len(set(found.picks(400).tolist())) == 400


def test_the_slice_depends_on_the_seed_and_not_on_k(audited: Made):
    """Larger coresets keep it, and their picks before it."""
    config, registry, pool = audited
    pinned = pin(registry, ["embeddings"])
    problem, _ = problem_of(config, pool)

    slice_, core = set_apart(problem, AUDIT)
    larger, _ = set_apart(replace(problem, k=480), AUDIT)
    other, _ = set_apart(replace(problem, seed=1), AUDIT)

    assert slice_.indices.tolist() == larger.indices.tolist()
    assert set(slice_.indices.tolist()) != set(other.indices.tolist())
    assert core.k == 400 - AUDIT
    assert not core.available[slice_.indices].any()
    picks, more = (orders(with_select(config, k=k), registry, pool, pinned).picks(k).tolist() for k in (400, 480))
    assert more[: 400 - AUDIT] == picks[:-AUDIT]
    assert more[-AUDIT:] == picks[-AUDIT:]


def test_includes_are_not_in_the_slice(audited: Made):
    """Nor is what is excluded; both are no chance."""
    config, _, pool = audited
    problem = replace(problem_of(config, pool)[0], include=np.arange(0, 100), exclude=np.arange(100, 200))

    slice_, core = set_apart(replace(problem, k=300), 120)

    assert slice_.indices.min() >= 200
    with pytest.raises(UsageError, match="100 ids are included, more than k = 80"):
        set_apart(replace(problem, k=200), 120)
    assert core.include.tolist() == problem.include.tolist()


def test_every_prompt_of_a_benchmark_has_the_same_chance(audited: Made):
    """Over 400 seeds as often as its probability says, in a band that a fair draw leaves once in 10,000 times."""
    config, _, pool = audited
    problem, _ = problem_of(config, pool)
    counts, chances = np.zeros(pool.n), np.zeros(pool.n)
    for seed in range(400):
        slice_, _ = set_apart(replace(problem, seed=seed), AUDIT)
        counts[slice_.indices] += 1
        chances[slice_.indices] = slice_.inclusion_probabilities
        assert np.unique(pool.benchmark[slice_.indices], return_counts=True)[1].tolist() == [4] * 5

    for name in np.unique(pool.benchmark):
        members = np.flatnonzero(pool.benchmark == name)
        assert np.allclose(chances[members][chances[members] > 0], 4 / len(members))
        half = members[: len(members) // 2]  # of the ids, so of nothing that matters
        low, high = binom.interval(0.9999, 1600, len(half) / len(members))
        assert low <= counts[half].sum() <= high
        low, high = binom.interval(1 - 1e-4 / len(members), 400, 4 / len(members))
        assert low <= counts[members].min()
        assert counts[members].max() <= high


@pytest.mark.parametrize(
    ("values", "told"),
    [({"k": 399}, "needs k of at least 400, and k is 399"), ({"k": 400, "audit": 201}, "at most half of the picks")],
)
def test_a_slice_that_proves_nothing_is_refused(values: dict[str, int], told: str):
    """With the reason."""
    with pytest.raises(ValidationError, match=told):
        SelectSection.model_validate({"audit": AUDIT} | values)


def test_coresets_without_a_slice_keep_their_names(audited: Made):
    """The slice is a part of the configuration only where there is one."""
    config, _, pool = audited
    without = with_select(config, audit=0)
    planned = plan_of(config, pool)

    assert "audit" not in Identity.of(without, pool, planned).semantic
    assert Identity.of(config, pool, planned).semantic["audit"] == AUDIT
    assert coreset_id_of(config, pool) != coreset_id_of(without, pool)


@pytest.mark.parametrize(("method", "known"), [("random", True), ("plain_random", True), ("kmeans", False)])
def test_chances_are_those_of_the_draws(audited: Made, method: str, known: bool):
    """What the method did not draw by known chances has none; the slice always has."""
    config, _, pool = audited
    vectors = np.random.default_rng(0).normal(size=(pool.n, 4)).astype(np.float32)
    problem = replace(problem_of(config, pool)[0], features={"embedding": vectors})
    slice_, core = set_apart(problem, AUDIT)

    found = joined(METHODS[method](core), slice_)

    assert found.inclusion_probabilities is not None
    assert np.isfinite(found.inclusion_probabilities[:-AUDIT]).all() == known
    assert found.inclusion_probabilities[-AUDIT:].tolist() == slice_.inclusion_probabilities.tolist()
    assert found.roles.tolist() == ["core"] * (400 - AUDIT) + ["audit"] * AUDIT


def test_the_slice_is_stored_as_one(audited: Made, ray_instance: None):
    """Last, with its role and its chances, without gain; weights, coverage and certificate are of all picks."""
    config, registry, pool = audited
    config = with_select(config, method="facility_location")
    pinned = pin(registry, ["embeddings"])

    outcome = select(config, registry, pool, "r1", pinned)
    rows, manifest = read_picks(registry, outcome.coreset_id).to_pandas(), find_manifest(registry, outcome.coreset_id)
    assert manifest is not None
    slice_, core = set_apart(problem_of(config, pool)[0], AUDIT)
    order = np.searchsorted(pool.prompt_id, rows["prompt_id"].tolist())

    assert rows["role"].tolist() == ["core"] * (400 - AUDIT) + ["audit"] * AUDIT
    assert order[-AUDIT:].tolist() == slice_.indices.tolist()
    assert rows["inclusion_probability"][-AUDIT:].tolist() == slice_.inclusion_probabilities.tolist()
    assert rows["inclusion_probability"][:-AUDIT].isna().all()
    assert not rows["gain"][-AUDIT:].any()
    assert follows_rounds(order[:-AUDIT], core.turns, core.available)
    assert set(read_weights(registry, outcome.coreset_id)) == set(rows["prompt_id"])
    assert rows["represents"].sum() == pool.copies.sum()
    assert manifest.k == 400
    assert manifest.value <= manifest.certificate["upper_bound"] <= 1
    found = orders(config, registry, pool, pinned)
    vectors = WholePool(config, registry, pool, pinned["embeddings"]).vectors()
    coverage = coverage_of(found, pool, problem_of(config, pool)[0], vectors)
    assert found.picks(400).tolist() == order.tolist()
    assert float(coverage.suite[400 - AUDIT]) == manifest.value
