"""What limits a selection from a registry, over one shard and over a tree of merges: as in the core, and by laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import benchcore
from benchcore.config import Config
from benchcore.distributed.job import coreset_id_of, select
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import problem_of
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import UsageError
from benchcore.methods.picks import Picks
from benchcore.registry.manifests import Manifest, find_manifest, read_picks
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin
from benchcore.submodular.constraints.rounds import follows_rounds

Made = tuple[Config, Registry, Pool]
Make = Callable[..., Made]

QUOTAS = {"quotas": {"a": [2, 4], "e": 2, "b": [None, 3], "c": [6, None]}}
TREE = {"shard_size": 30, "merge_gb": 3.2e-6}  # four shards, merged two by two


def changed(made: Made, **select: Any) -> Made:
    """The same registry and pool under another configuration."""
    config, registry, pool = made
    tree = config.model_dump()
    return Config.model_validate({**tree, "select": {**tree["select"], **select}}), registry, pool


def picked(made: Made) -> tuple[np.ndarray, Manifest]:
    """Pool positions in the order of picking, and the manifest."""
    config, registry, pool = made
    outcome = select(config, registry, pool, "r1", pin(registry, ["embeddings"]))
    manifest = find_manifest(registry, outcome.coreset_id)
    assert manifest is not None
    ids = read_picks(registry, outcome.coreset_id)["prompt_id"].to_pylist()
    assert outcome.picks == manifest.k == len(ids)
    return np.searchsorted(pool.prompt_id, ids), manifest


def vectors_of(made: Made) -> np.ndarray:
    _, registry, pool = made
    return Embeddings(registry, None, pool.encoder).read(tuple(range(16)), pool.text_hash)


def core(made: Made, groups: np.ndarray, **limits: Any) -> Picks:
    """The core on the same array."""
    config, _, pool = made
    section, mass = config.select, problem_of(config, pool)[0].mass
    own = {"include": section.include, "exclude": section.exclude, "ids": pool.prompt_id, "groups": groups}
    return benchcore.select(vectors_of(made), section.k, mass=mass, **own, **limits)


def queried(made: Made) -> list[tuple[Made, Picks]]:
    """Both query forms, each with the core's answer; the query is among the prompts."""
    vectors, pool = vectors_of(made), made[2]
    chosen = (pool.benchmark == "e") | (pool.prompt_id == pool.prompt_id[11])
    query = {"benchmarks": ["e"], "prompts": [str(pool.prompt_id[11])]}
    near = core(made, pool.benchmark, objective="flvmi", query=vectors[chosen], eta=0.8)
    beyond = core(made, pool.benchmark, avoid=vectors[pool.category == "second"], nu=0.9)
    return [
        (changed(made, toward={**query, "weight": 0.8}), near),
        (changed(made, away={"categories": ["second"], "weight": 0.9}), beyond),
    ]


def budgeted(made: Made) -> list[tuple[Made, Picks]]:
    """Budgets in rounds and free, dear and cheap prompts, each with the core's answer; one where k binds first."""
    config, registry, pool = made
    tokens = np.random.default_rng(1).integers(1, 60, pool.n).astype(np.float64)
    priced = config, registry, replace(pool, tokens=tokens)
    found = []
    for rounds, budget, k in (("benchmark", 300, 90), (None, 150, 90), (None, 700, 12)):
        limited = changed(priced, constraint={"rounds": rounds}, budget={"tokens": budget}, k=k)
        found.append(
            (limited, core(limited, pool.benchmark, balanced=rounds is not None, costs=tokens, budget=float(budget)))
        )
    return found


@pytest.mark.usefixtures("standing_workers")
def test_one_shard_is_the_core(made: Make):
    """Pick by pick, with gains, value and a certificate that holds, beside includes and excludes."""
    plain = made(shard_size=500)
    ids = plain[2].prompt_id.tolist()
    around = changed(plain, include=[ids[3], ids[50]], exclude=ids[9:30])
    bounds = {name: tuple(bounds) if isinstance(bounds, list) else (2, 2) for name, bounds in QUOTAS["quotas"].items()}
    cases: list[tuple[Made, Picks]] = [
        (changed(around, constraint=QUOTAS), core(around, plain[2].benchmark, quotas=bounds)),
        *queried(around),
        *budgeted(around),
    ]
    for limited, expected in cases:
        order, manifest = picked(limited)
        found = read_picks(limited[1], manifest.coreset_id)

        assert expected.indices.tolist() == order.tolist()
        assert expected.gains.tolist() == found["gain"].to_pylist()
        assert expected.value == manifest.value
        assert manifest.value <= expected.certificate.upper_bound <= manifest.certificate["upper_bound"]


@pytest.mark.usefixtures("standing_workers")
def test_rounds_hold_over_a_tree_of_merges(made: Make):
    """Includes first and in order, nothing excluded, balance at each prefix, and smaller coresets are prefixes."""
    plain = made(**TREE)
    pool, ids = plain[2], plain[2].prompt_id.tolist()
    excluded = np.flatnonzero(pool.benchmark == "e")[:-2]  # a benchmark that soon has no more
    around = changed(plain, include=[ids[50], ids[3]], exclude=[ids[row] for row in excluded if row not in (3, 50)])
    for rounds in ("benchmark", "category", None):
        limited = changed(around, constraint={"rounds": rounds}, k=30)
        problem = problem_of(limited[0], pool)[0]
        order, manifest = picked(limited)

        assert manifest.semantic_configuration["plan"]["merges"] == [2]
        assert order[:2].tolist() == [50, 3]
        assert len(set(order.tolist())) == 30
        assert not set(order.tolist()) & set(problem.exclude.tolist())
        assert follows_rounds(order[2:], problem.turns, problem.available, problem.given)
    assert picked(changed(limited, k=9))[0].tolist() == order[:9].tolist()


@pytest.mark.usefixtures("standing_workers")
@pytest.mark.parametrize("over", ["benchmark", "category"])
def test_quotas_hold_over_a_tree_of_merges(made: Make, over: str):
    """Each minimum and maximum, exactly k, and a value near the core's."""
    plain = made(**TREE)
    pool = plain[2]
    groups = pool.benchmark if over == "benchmark" else pool.category
    quotas = QUOTAS["quotas"] if over == "benchmark" else {"second": [None, 3]}
    limited = changed(plain, constraint={"quotas": quotas, "over": over}, include=[pool.prompt_id[7]])
    bounds = {name: tuple(bounds) if isinstance(bounds, list) else (2, 2) for name, bounds in quotas.items()}
    central = core(changed(plain, include=[pool.prompt_id[7]]), groups, quotas=bounds)

    order, manifest = picked(limited)
    counts = {name: int((groups[order] == name).sum()) for name in bounds}

    assert order[0] == 7
    assert len(set(order.tolist())) == 20
    assert all((low or 0) <= counts[name] <= (high or 20) for name, (low, high) in bounds.items())
    assert 0.97 * central.value < manifest.value
    assert max(central.value, manifest.value) <= manifest.certificate["upper_bound"]


@pytest.mark.usefixtures("standing_workers")
def test_queries_over_a_tree_of_merges_come_near_the_core(made: Make):
    """In balance, with gains that add up to the objective's own value and a certificate that holds."""
    for limited, central in queried(made(**TREE)):
        order, manifest = picked(limited)
        problem = problem_of(limited[0], limited[2])[0]
        gains = read_picks(limited[1], manifest.coreset_id)["gain"].to_pylist()

        assert manifest.semantic_configuration["plan"]["merges"] == [2]
        assert follows_rounds(order, problem.turns)
        assert 0.95 * central.value < manifest.value
        assert np.isclose(np.sum(gains), manifest.value)
        assert max(central.value, manifest.value) <= manifest.certificate["upper_bound"]

        fewer, sampled = picked(changed(limited, k=12, workers=2, exact_rows=50))
        assert fewer.tolist() == order[:12].tolist()
        assert sampled.certificate["kind"] == "sampled"
        assert sampled.value <= sampled.certificate["upper_bound"] < manifest.certificate["upper_bound"] * 2


@pytest.mark.usefixtures("standing_workers")
def test_budgets_hold_over_a_tree_of_merges(made: Make):
    """Never more tokens than allowed, hardly any left for what fits, and a value near the core's."""
    plain = made(**TREE)
    around = changed(plain, include=[plain[2].prompt_id[7]])
    for limited, central in budgeted(around)[::2]:
        order, manifest = picked(limited)
        tokens, section = limited[2].tokens, limited[0].select
        assert tokens is not None
        assert section.budget is not None
        left = section.budget.tokens - tokens[order].sum()
        others = np.setdiff1d(np.arange(limited[2].n), order)

        assert order[0] == 7
        assert left >= 0
        assert len(order) == section.k or left < np.sort(tokens[others])[10]
        assert 0.95 * central.value < manifest.value
        assert max(central.value, manifest.value) <= manifest.certificate["upper_bound"]


def test_quotas_of_no_effect_leave_names_as_they_were(made: Make):
    """The key is in the semantic configuration only where it is set."""
    plain = made()
    assert coreset_id_of(*(changed(plain, constraint={"quotas": {}})[::2])) == coreset_id_of(*plain[::2])
    other = [{"constraint": QUOTAS}, {"toward": {"benchmarks": ["a"]}}, {"away": {"benchmarks": ["a"]}}]
    priced = plain[0], plain[1], replace(plain[2], tokens=np.ones(plain[2].n))
    assert coreset_id_of(*priced[::2]) == coreset_id_of(*plain[::2])
    others = [changed(plain, **each) for each in other] + [changed(priced, budget={"tokens": 9})]
    assert len({coreset_id_of(*made[::2]) for made in (plain, *others)}) == 5


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"constraint": {"quotas": {"aa": 3}}}, r"unknown benchmark 'aa'\. Did you mean 'a'\?"),
        ({"constraint": {"quotas": {"firts": 3}, "over": "category"}}, "unknown category 'firts'.*'first'"),
        ({"constraint": {"quotas": {"a": [5, 3]}}}, r"minimum above maximum: a \(minimum 5, maximum 3"),
        ({"constraint": {"quotas": {"a": 15, "b": 15}}}, r"minima ask for 30 picks .* only 20 .*a: 15, b: 15"),
        ({"constraint": {"quotas": {"e": [90, None]}}}, r"minimum above the number of candidates: e \(minimum 90"),
        (
            {"constraint": {"quotas": {name: [0, 2] for name in "abcde"}}},
            "maxima .* leave 10 picks .* 20 are to be made",
        ),
        ({"constraint": QUOTAS, "method": "nested_swaps"}, "'nested_swaps' knows balanced rounds, not quotas"),
        ({"constraint": QUOTAS, "method": "random"}, "'random' knows balanced rounds, not quotas"),
        ({"budget": {"tokens": 5}, "method": "random"}, "tokens does not go together with 'random'"),
        ({"budget": {"tokens": 5}, "constraint": QUOTAS}, "tokens does not go together with quotas"),
        ({"toward": {"benchmarks": ["f"]}}, r"select\.toward: unknown benchmark 'f'"),
        ({"away": {"prompts": ["nobody"]}}, r"select\.away\.prompts: 1 ids are not among .* nobody"),
        ({"away": {"benchmarks": ["a"]}, "method": "nested_swaps"}, "'nested_swaps' has no query form"),
    ],
)
def test_limits_that_cannot_be_kept_are_told_in_one_line(made: Make, changes: dict[str, Any], told: str):
    """Before anything is started, naming the groups."""
    config, _, pool = made(**changes)
    with pytest.raises(UsageError, match=told) as error:
        problem_of(config, pool)
    assert "\n" not in str(error.value)


def test_a_budget_that_is_too_small_is_told_with_figures(made: Make):
    """Nothing fits, or the includes alone cost more."""
    config, registry, pool = made()
    priced = config, registry, replace(pool, tokens=np.full(pool.n, 9.0))
    with pytest.raises(UsageError, match="nothing fits into a budget of 5: the cheapest candidate costs 9"):
        problem_of(*changed(priced, budget={"tokens": 5})[::2])
    with pytest.raises(UsageError, match="the includes cost 18, more than the budget of 10"):
        problem_of(*changed(priced, budget={"tokens": 10}, include=pool.prompt_id[:2].tolist())[::2])
