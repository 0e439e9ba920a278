"""The merge round: answers that rely on no earlier ones, and a driver that goes on where it was killed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchcore.config import Config
from benchcore.distributed.crew import Crew
from benchcore.distributed.job import select
from benchcore.distributed.on_actors import merging
from benchcore.distributed.on_actors.held import HeldShards, ShardRows, compact
from benchcore.distributed.on_actors.merging import Merging
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import plan_of, problem_of
from benchcore.distributed.vectors import Embeddings
from benchcore.registry.manifests import read_picks
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin
from benchcore.submodular.quantise import integer_mass

Make = Callable[..., tuple[Config, Registry, Pool]]
MEMORIES = (0, 2_000, 2**20)  # bytes: none, some, more than all


def held_by(made: tuple[Config, Registry, Pool], worker: int, workers: int = 2) -> HeldShards:
    """The shards of one of some workers, as a crew deals them out."""
    config, registry, pool = made
    problem, _ = problem_of(config, pool)
    mass = integer_mass(problem.mass, problem.group_numbers)
    embeddings = Embeddings(registry, None, pool.encoder)
    shards = {
        number: ShardRows(
            shard.buckets,
            shard.positions,
            *(np.char.encode(column[shard.positions]) for column in (pool.prompt_id, pool.text_hash)),
            mass[shard.positions],
            *(column[shard.positions] for column in (problem.turns, problem.available)),
        )
        for number, shard in enumerate(plan_of(config, pool).shards)
        if number % workers == worker
    }
    return HeldShards(embeddings, shards, 2**30)


@pytest.mark.parametrize("memory", MEMORIES)
def test_no_answer_relies_on_an_earlier_one(made: Make, memory: int):
    """Gains after some picks: of a worker asked all along, of one just started, and from the definition."""
    example, centre = made(), np.full(16, 0.5)
    workers = [held_by(example, worker) for worker in range(2)]
    rows = {number: held.rows(number, centre) for held in workers for number in held.shards}
    mass = {number: shard.mass for held in workers for number, shard in held.shards.items()}
    candidates = np.concatenate([rows[number][::7] for number in sorted(rows)])
    merged = Merging("one", (0, 1, 2), 120, compact(candidates), memory)
    everything, picks = np.arange(len(candidates)), [4, 0, 9, 11]

    for made_so_far in range(len(picks) + 1):
        before = picks[:made_so_far]
        expected = np.zeros(len(candidates))
        for number, own in rows.items():
            similar = np.maximum(own.astype(np.float64) @ candidates.T.astype(np.float64), 0.0)
            covered = similar[:, before].max(axis=1, initial=0.0)
            expected += mass[number] @ np.maximum(similar - covered[:, None], 0.0)
        restarted = [held_by(example, worker) for worker in range(2)]

        for asked in (workers, restarted):
            some = [merging.gains(held, centre, merged, before, everything[2:5]) for held in asked]
            bounds = [merging.bounds(held, centre, merged, before) for held in asked]
            every = [merging.gains(held, centre, merged, before, everything) for held in asked]

            assert np.sum(some, axis=0).tolist() == expected[2:5].tolist()
            assert (np.sum(bounds, axis=0) >= expected).all()
            assert np.sum(every, axis=0).tolist() == expected.tolist()
    back = [merging.gains(held, centre, merged, picks[:1], everything) for held in workers]
    again = [merging.gains(held_by(example, worker), centre, merged, picks[:1], everything) for worker in range(2)]
    assert np.sum(back, axis=0).tolist() == np.sum(again, axis=0).tolist()


def test_values_and_increases_are_those_of_the_definition(made: Make):
    """Of several sets from one product, and of one order pick by pick."""
    held, centre = held_by(made(), 0, workers=1), np.full(16, 0.5)
    rows = np.concatenate([held.rows(number, centre) for number in held.shards]).astype(np.float64)
    mass = np.concatenate([shard.mass for shard in held.shards.values()])
    candidates = held.rows(1, centre)[:12]
    similar = np.maximum(rows @ candidates.T.astype(np.float64), 0.0)
    sets = [np.array([0, 3, 5]), np.array([7]), np.arange(12)]
    expected = [float(mass @ similar[:, members].max(axis=1)) for members in sets]
    merged = Merging("one", (0, 1, 2), len(rows), compact(candidates), 0)

    assert merging.values(held, centre, merged, sets).tolist() == expected
    raised = merging.increases(held, centre, (0, 1, 2), compact(candidates), None)
    assert np.cumsum(raised).tolist() == [float(mass @ similar[:, : k + 1].max(axis=1)) for k in range(12)]


@pytest.mark.usefixtures("ray_instance")
def test_a_killed_driver_goes_on_from_its_last_picks(made: Make, monkeypatch: pytest.MonkeyPatch):
    """It repeats the picks since the last checkpoint, no local round, and ends with the same picks."""
    expected = run(made(name="whole", k=40))
    asked: list[tuple[str, int]] = []
    ask_all, begin = Crew.ask_all, Crew.begin

    def noting(crew: Crew, question: Callable[..., Any], *arguments: Any) -> list[Any]:
        if question in (merging.gains, merging.bounds):
            asked.append((question.__name__, len(arguments[2])))
            if stop and len(arguments[2]) == stop[0]:
                raise KeyboardInterrupt
        return ask_all(crew, question, *arguments)

    def noting_begin(crew: Crew, shard: int, question: Callable[..., Any], *arguments: Any) -> Any:
        asked.append((question.__name__, 0))
        return begin(crew, shard, question, *arguments)

    monkeypatch.setattr(Crew, "ask_all", noting)
    monkeypatch.setattr(Crew, "begin", noting_begin)
    stop = [37]
    with pytest.raises(KeyboardInterrupt):
        run(made(name="killed", k=40))
    stop.clear()
    asked.clear()

    assert run(made(name="killed", k=40)).equals(expected)
    assert {name for name, _ in asked} <= {"gains", "bounds"}
    assert min(picks for _, picks in asked) == 32


def run(made: tuple[Config, Registry, Pool]) -> Any:
    config, registry, pool = made
    return read_picks(registry, select(config, registry, pool, "r", pin(registry, ["embeddings"])).coreset_id)
