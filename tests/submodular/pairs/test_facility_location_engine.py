"""The large facility location is the small one: same picks, same gains, on every path and however it is cut."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchcore.submodular.constraints.constraint import Cardinality, Constraint
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives import facility_location
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.pairs import tiles
from benchcore.submodular.pairs.raising import RaisingPairs
from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.similarities.dot import DotSimilarity
from tests.submodular.pairs.conftest import Instance, instance

LISTS = 10**9  # bytes: codes, and then lists of pairs
PATHS = [
    pytest.param(LISTS, True, id="lists"),
    pytest.param(LISTS, False, id="codes"),
    pytest.param(0, True, id="blocks"),
]


def greedy(made: Instance, k: int = 60, memory: int = LISTS, floor: np.ndarray | None = None) -> Greedy:
    objective = FacilityLocation(made.similarity, made.mass, floor, memory=memory)
    return lazy_greedy(objective, Cardinality(np.ones(made.n, bool), k))


def reference(made: Instance, k: int = 60, floor: np.ndarray | None = None) -> Greedy:
    """Before the fixture takes the plain path away this is numpy alone; with it, the naive greedy without memory."""
    objective = FacilityLocation(made.similarity, made.mass, floor, memory=0)
    return naive_greedy(objective, Cardinality(np.ones(made.n, bool), k))


def same(first: Greedy, second: Greedy) -> bool:
    return first.order.tolist() == second.order.tolist() and first.gains.tolist() == second.gains.tolist()


@pytest.mark.parametrize(("memory", "listed"), PATHS)
@pytest.mark.parametrize("seed", range(3))
def test_every_path_picks_what_plain_numpy_picks(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, seed: int, memory: int, listed: bool
):
    """With duplicates and unequal masses, until nothing is left, with and without a floor."""
    made = instance(seed)
    floors = [None, np.random.default_rng(seed).integers(0, 2**23, made.n).astype(np.float32)]
    expected = [reference(made, made.n, floor) for floor in floors]
    request.getfixturevalue("small_tiles")
    if not listed:
        monkeypatch.setattr(facility_location, "ENTRY_BYTES", 10**9)  # lists are never small enough

    found = [greedy(made, made.n, memory, floor) for floor in floors]

    assert all(map(same, expected, found))


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("constraint", [0, 1])
def test_constraints_and_includes_go_through_the_same_paths(constraint: int):
    """Balanced rounds and excluded rows, picks that come first."""
    made = instance(5)
    groups = np.random.default_rng(2).integers(0, 4, made.n)
    available = np.arange(made.n) > 20
    include = np.array([3, 17])
    make: Callable[[], Constraint] = [lambda: Cardinality(available, 50), lambda: Rounds(groups, available, 50)][
        constraint
    ]

    expected = naive_greedy(FacilityLocation(made.similarity, made.mass, memory=0), make(), include)
    found = lazy_greedy(FacilityLocation(made.similarity, made.mass), make(), include)

    assert same(expected, found)


@pytest.mark.usefixtures("small_tiles")
def test_tiles_threads_and_the_order_of_rows_change_no_bit(monkeypatch: pytest.MonkeyPatch):
    """Rows in another order are the same picks by name."""
    made = instance(7)
    expected = greedy(made)
    for side in (1, 17, 150, 1000):
        monkeypatch.setattr(tiles, "SIDE", side)
        assert same(expected, greedy(made))
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="blas"):
            assert same(expected, greedy(made))
    distinct = np.sort(np.unique(made.rows, axis=0, return_index=True)[1])
    order = np.random.default_rng(3).permutation(distinct)
    straight, shuffled = (greedy(Instance(made.rows[rows], made.mass[rows]), 25) for rows in (distinct, order))

    assert len(set(straight.gains.tolist())) == 25  # no ties, which go to the first row
    assert straight.gains.tolist() == shuffled.gains.tolist()
    assert distinct[straight.order].tolist() == order[shuffled.order].tolist()


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("seed", range(3))
def test_listed_pairs_keep_all_gains_exact(seed: int):
    """After every pick, also after settled pairs were dropped."""
    made = instance(seed)
    objective = FacilityLocation(made.similarity, made.mass, memory=0)
    coverage = objective.coverage.copy()
    pairs = RaisingPairs(made.similarity, Threads(), coverage, made.mass, np.full(made.n, made.n, np.int32))
    for pick in np.random.default_rng(seed).permutation(made.n)[:70].tolist():
        assert objective.gains(np.arange(made.n)).tolist() == pairs.gains.tolist()
        objective.add(pick)
        pairs.add(pick)

    assert objective.coverage.tolist() == coverage.tolist()


@pytest.mark.usefixtures("small_tiles")
def test_parts_of_the_represented_rows_add_up():
    """What shards compute on their own rows sums to the whole, with candidates that are not represented."""
    made, candidates = instance(1), instance(2, n=40)
    parts = [slice(0, 61), slice(61, None)]
    shards = [
        FacilityLocation(DotSimilarity(candidates.rows, made.rows[part], clipped=False), made.mass[part])
        for part in parts
    ]
    whole = FacilityLocation(DotSimilarity(candidates.rows, made.rows, clipped=False), made.mass)
    everything = np.arange(40)
    for objective in (*shards, whole):
        objective.add(11)

    assert whole.gains(everything).tolist() == sum(shard.gains(everything) for shard in shards).tolist()
    assert whole.value == sum(shard.value for shard in shards)
    assert whole.total() == sum(shard.total() for shard in shards)


@pytest.mark.usefixtures("small_tiles")
def test_an_error_in_a_thread_comes_out_and_the_linear_algebra_gets_its_threads_back():
    """As does an interrupt."""
    before = blas_threads()

    def fail(task: int) -> int:
        if task == 3:
            raise KeyboardInterrupt
        return task

    with pytest.raises(KeyboardInterrupt):
        list(Threads().each(fail, range(1000)))

    assert before == blas_threads()


@pytest.mark.usefixtures("small_tiles")
def test_runs_at_the_same_time_pick_the_same_and_leave_the_linear_algebra_its_threads():
    """Four of them in one process."""
    before, made = blas_threads(), instance(3, n=400)

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: greedy(made), range(8)))

    assert all(same(runs[0], run) for run in runs)
    assert before == blas_threads()


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
