"""Merges in which each prompt looks at its nearest candidates alone: what they pick, and what that leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchcore.cli.summary import print_coreset
from benchcore.config import Config
from benchcore.distributed import checkpoints
from benchcore.distributed.constraints import rules_of
from benchcore.distributed.identity import Identity
from benchcore.distributed.job import select
from benchcore.distributed.on_actors.held import HeldShards
from benchcore.distributed.order import Found, Order, shard_keys
from benchcore.distributed.plan import Merge, Plan
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import plan_of, problem_of
from benchcore.errors import UsageError
from benchcore.methods.problem import Problem
from benchcore.registry.manifests import find_manifest, manifest_warnings, read_picks
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.quantise import integer_mass
from tests.distributed.test_merge import held_by
from tests.submodular.pairs.parts import Whole

Made = tuple[Config, Registry, Pool]
Make = Callable[..., Made]
CENTRE = np.full(16, 0.5)
ONE_MERGE = ((Merge((0, 1, 2, 3), (0, 1, 2, 3)),),)
TREE = ((Merge((0, 1), (0, 1)), Merge((2, 3), (2, 3))), (Merge((0, 1), (0, 1, 2, 3)),))


class Workers:
    """The workers of a crew, in this process: each holds some shards and answers the same questions."""

    def __init__(self, held: list[HeldShards]) -> None:
        self.held = held

    def share(self, value: object) -> object:
        return value

    def ask_all(self, question: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [question(held, *arguments) for held in self.held]

    def begin(self, shard: int, question: Callable[..., Any], *arguments: Any) -> Any:
        return question(self.held[shard % len(self.held)], shard, *arguments)

    def finished(self, calls: Mapping[int, Any]) -> Iterator[tuple[int, Any]]:
        yield from calls.items()


def found(made: Made, plan: Plan, workers: int, key: str) -> Found:
    """The order that some workers find by a plan."""
    config, registry, pool = made
    problem = problem_of(config, pool)[0]
    held = [held_by(made, number, workers) for number in range(workers)]
    order = Order(Workers(held), plan, problem, rules_of(config.select, problem), CENTRE, registry, key, "own", 2**20)
    return order.find({})


class Naive:
    """The same in double precision, from the definition, of what the shards picked."""

    def __init__(self, made: Made, plan: Plan) -> None:
        config, registry, pool = made
        self.problem: Problem = problem_of(config, pool)[0]
        self.plan, self.rules = plan, rules_of(config.select, self.problem)
        self.mass = integer_mass(self.problem.mass, self.problem.group_numbers)
        held = held_by(made, 0, 1)
        rows = np.zeros((pool.n, 17))
        for number, shard in held.shards.items():
            rows[shard.positions] = held.rows(number, CENTRE)
        self.similar = rows @ rows.T
        self.parts = [checkpoints.load(registry, key).order.tolist() for key in shard_keys("own", plan)]

    def order(self) -> tuple[list[int], list[list[int]]]:
        """The picks, and the candidates that each prompt looked at in the last merge."""
        orders, kept = self.parts, []
        for level in self.plan.levels:
            merged = [self._merged(merge, [orders[child] for child in merge.children]) for merge in level]
            orders, kept = [picks for picks, _ in merged], merged[-1][1]
        return orders[0], kept

    def value(self, rows: list[int], picks: list[int]) -> float:
        """Of picks on some rows, with nothing left out."""
        return float(self.mass[rows] @ np.maximum(self.similar[np.ix_(rows, picks)], 0.0).max(axis=1, initial=0.0))

    def _merged(self, merge: Merge, parts: list[list[int]]) -> tuple[list[int], list[list[int]]]:
        rows = np.concatenate([self.plan.shards[shard].positions for shard in merge.shards]).tolist()
        candidates = sorted({pick for part in parts for pick in part})
        kept = [sorted(candidates, key=lambda j: (-self.similar[row, j], j))[: self.plan.neighbours] for row in rows]
        sparse = np.zeros((len(rows), len(candidates)))
        for row, near in enumerate(kept):
            sparse[row, np.searchsorted(candidates, near)] = np.maximum(self.similar[rows[row], near], 0.0)

        def gains(picks: list[int]) -> np.ndarray:
            covered = sparse[:, picks].max(axis=1, initial=0.0)
            return self.mass[rows] @ np.maximum(sparse - covered[:, None], 0.0)

        turns, available = self.problem.turns[candidates], self.problem.available[candidates]
        picked = naive_greedy(Whole(gains), Rounds(turns, available, self.problem.k, self.problem.given))
        best = [candidates[place] for place in picked.order]
        for part in parts:
            allowed = self.rules.allow(np.array(part), self.problem.turns, self.problem.available)
            if allowed and self.value(rows, part) > self.value(rows, best):
                best = part
        return best, kept


@pytest.mark.parametrize("levels", [ONE_MERGE, TREE], ids=["one merge", "tree"])
@pytest.mark.parametrize("neighbours", [1, 3, 12])
def test_picks_are_those_of_the_naive_greedy_on_the_sparsified_matrix(made: Make, levels: Any, neighbours: int):
    """In every merge, for any number of workers; gains are on all rows, and prompts without a neighbour are counted."""
    example = made(n=160, shard_size=40, k=24)
    plan = replace(plan_of(example[0], example[2]), levels=levels, neighbours=neighbours)
    first = found(example, plan, 1, "one")
    naive = Naive(example, plan)
    order, kept = naive.order()

    for number, workers in enumerate((1, 2, 3)):
        again = found(example, plan, workers, f"again {number}")
        assert again.picks.order.tolist() == order
        assert again.picks.gains.tolist() == first.picks.gains.tolist()
    every = list(range(160))
    assert np.cumsum(first.picks.gains).tolist() == [naive.value(every, order[: k + 1]) for k in range(len(order))]
    for k in (1, 7, 24):
        without = [row for row, near in enumerate(kept) if not set(near) & set(order[:k])]
        rows = np.concatenate([shard.positions for shard in plan.shards])[without]
        told = first.reached.uncovered(k, 160, float(naive.mass.sum()))
        assert told["uncovered"] == pytest.approx(len(without) / 160)
        assert told["uncovered_mass"] == pytest.approx(naive.mass[rows].sum() / naive.mass.sum())
    assert neighbours > 1 or told["uncovered"] > 0


@pytest.mark.parametrize("levels", [ONE_MERGE, TREE], ids=["one merge", "tree"])
def test_as_many_neighbours_as_candidates_are_the_exact_merge(made: Make, levels: Any):
    """Bit by bit, and nothing is left out."""
    example = made(n=160, shard_size=40, k=24)
    exact = replace(plan_of(example[0], example[2]), levels=levels)
    expected = found(example, exact, 2, "exact")
    same = found(example, replace(exact, neighbours=160), 2, "all")

    assert expected.reached is None
    assert same.picks.order.tolist() == expected.picks.order.tolist()
    assert same.picks.gains.tolist() == expected.picks.gains.tolist()
    assert same.reached.uncovered(1, 160, 1.0)["uncovered"] == 0


def test_what_was_counted_is_kept_beside_the_order(made: Make):
    """And where it was lost, both are found again."""
    example = made(n=160, shard_size=40, k=24)
    plan = replace(plan_of(example[0], example[2]), levels=ONE_MERGE, neighbours=3)
    first = found(example, plan, 2, "kept")
    served = found(example, plan, 1, "kept")
    files, folder = example[1].filesystem(), example[1].sidecar("_checkpoints", "select")
    for path in files.ls(folder, detail=False):
        if not path.endswith("/kept.json"):
            files.rm_file(path)
    again = found(example, plan, 2, "kept")

    for other in (served, again):
        assert other.picks.order.tolist() == first.picks.order.tolist()
        assert other.reached.prompts.tolist() == first.reached.prompts.tolist()
        assert other.reached.mass.tolist() == first.reached.mass.tolist()


def test_they_name_the_coreset_only_where_they_choose(made: Make):
    """Without them, and with one shard, coresets keep their names; the shards' own picks are the same for all."""
    plain, near, far, alone = (
        identity(made(n=160, k=24, shard_size=size, neighbours=neighbours))
        for size, neighbours in ((40, None), (40, 3), (40, 4), (500, 3))
    )

    assert "neighbours" not in str(plain.semantic)
    assert near.semantic["plan"] == {**plain.semantic["plan"], "neighbours": 3}
    assert len({named.coreset_id for named in (plain, near, far)}) == 3
    assert alone.coreset_id == identity(made(n=160, k=24, shard_size=500)).coreset_id
    assert near.order_key(24, CENTRE) != plain.order_key(24, CENTRE)
    assert near.local_key(24, CENTRE) == plain.local_key(24, CENTRE)


def identity(made: Made) -> Identity:
    config, _, pool = made
    return Identity.of(config, pool, plan_of(config, pool))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"neighbours": 3, "method": "nested_swaps"}, "'nested_swaps' merges nothing"),
        ({"neighbours": 3, "method": "random"}, "'random' merges nothing"),
    ],
)
def test_methods_without_merges_refuse_them(made: Make, settings: dict[str, Any], told: str):
    """In one line that names the method that has some."""
    config, _, pool = made(**settings)

    with pytest.raises(UsageError, match=told) as error:
        problem_of(config, pool)

    assert "Set select.method: facility_location" in str(error.value)


@pytest.mark.parametrize("neighbours", [0, -1, 1.5, "few"])
def test_less_than_one_neighbour_is_no_number_of_them(made: Make, neighbours: object):
    """Refused with the configuration."""
    with pytest.raises(ValueError, match="neighbours"):
        made(neighbours=neighbours)


@pytest.mark.usefixtures("standing_workers")
def test_a_selection_with_few_neighbours_says_what_it_leaves_out(made: Make, capsys: pytest.CaptureFixture[str]):
    """In the manifest and to the user, above 5 % with how many would do; the value is of all rows."""
    plain = made(n=160, k=20, shard_size=40, workers=2)
    config = plain[0].model_copy(update={"select": plain[0].select.model_copy(update={"neighbours": 2})})
    outcome, few = run((config, *plain[1:])), run((resized(config, 5), *plain[1:]))
    manifest, other = (find_manifest(plain[1], each.coreset_id) for each in (outcome, few))
    gains = read_picks(plain[1], outcome.coreset_id)["gain"].to_pylist()

    assert (manifest.plan["neighbours"], manifest.plan["merges"][-1]["picks_before_lists"]) == (2, 0)
    assert manifest.value == pytest.approx(sum(gains))
    assert manifest.value <= manifest.certificate["upper_bound"]
    assert 0.05 < manifest.plan["uncovered"] < other.plan["uncovered"] < 1
    assert few.warnings == tuple(manifest_warnings(other)[:1])
    assert "are covered by nothing: no pick is among the 2 candidates nearest" in few.warnings[0]
    assert "select.neighbours of about 96 would do" in few.warnings[0]  # 3 x 160 / 5
    print_coreset(other)
    told = capsys.readouterr().out
    assert f"uncovered    {100 * other.plan['uncovered']:.2f} % of the prompts" in told
    assert "warning: " + few.warnings[0] in " ".join(told.split())


def resized(config: Config, k: int) -> Config:
    return config.model_copy(update={"select": config.select.model_copy(update={"k": k})})


def run(made: Made) -> Any:
    config, registry, pool = made
    return select(config, registry, pool, "r", pin(registry, ["embeddings"]))


@pytest.mark.usefixtures("standing_workers")
@pytest.mark.parametrize(
    "settings",
    [
        {"constraint": {"quotas": {"a": [2, 4]}}},
        {"toward": {"benchmarks": ["b"]}},
        {"away": {"benchmarks": ["b"]}},
        {"budget": {"tokens": 300}},
    ],
    ids=["quotas", "toward", "away", "budget"],
)
def test_they_go_together_with_what_merges_keep_to(made: Make, settings: dict[str, Any]):
    """With as many as there are candidates the picks are those without; with few there are as many picks."""
    picks = []
    for neighbours in (None, 160, 3):
        config, registry, pool = made(n=160, k=20, shard_size=40, neighbours=neighbours, **settings)
        priced = replace(pool, tokens=np.random.default_rng(1).integers(1, 60, pool.n).astype(np.float64))
        outcome = run((config, registry, priced))
        picks.append(read_picks(registry, outcome.coreset_id)["prompt_id"].to_pylist())
    exact, every, few = picks
    spent = priced.tokens[np.searchsorted(pool.prompt_id, few)].sum()

    assert exact == every
    assert spent <= 300 if "budget" in settings else len(set(few)) == 20
