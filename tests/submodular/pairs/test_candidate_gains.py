"""Gains of candidates on rows that they are not: exact at any memory, and whatever was asked before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.pairs import candidate_gains, candidate_lists, panels
from benchcore.submodular.pairs.candidate_gains import CandidateGains
from benchcore.submodular.pairs.candidate_lists import ENTRY_BYTES
from benchcore.submodular.pairs.panels import each_panel
from benchcore.submodular.pairs.threads import Threads
from tests.submodular.pairs.parts import Parts, Whole

NOTHING, SOME, EVERYTHING = 0.0, 0.3, 2.0  # of all pairs, those that fit into the memory
MEMORIES = st.sampled_from([NOTHING, SOME, EVERYTHING])
NONE = np.zeros(0, np.int64)


class Instance:
    """Rows and candidates of few distinct whole numbers, so that many gains are equal."""

    def __init__(self, seed: int, share: float, most: int = 60) -> None:
        random = np.random.default_rng(seed)
        self.m, self.n = int(random.integers(1, 25)), int(random.integers(1, most))
        self.candidates = random.integers(-6, 7, (self.m, 4)).astype(np.float32)
        self.rows = random.integers(-6, 7, (self.n, 4)).astype(np.float32)
        self.mass = random.integers(0, 5, self.n).astype(np.float64)
        self.floor = random.integers(0, 20, self.n).astype(np.float32)
        self.ceiling = self.floor + random.integers(0, 60, self.n).astype(np.float32)
        self.memory = int(share * self.m * self.n * ENTRY_BYTES)
        self.random = random

    def part(self, rows: slice = slice(None), picks: np.ndarray = NONE, *, bounded: bool = False) -> CandidateGains:
        limits = {"floor": self.floor[rows], "ceiling": self.ceiling[rows]} if bounded else {}
        return CandidateGains(
            self.candidates, self.rows[rows], self.mass[rows], picks, memory=self.memory, threads=Threads(), **limits
        )

    def gains(self, picks: list[int], *, bounded: bool = False) -> np.ndarray:
        """From the definition, in double precision."""
        similarities = np.maximum(self.rows.astype(np.float64) @ self.candidates.T.astype(np.float64), 0.0)
        covered = np.zeros(self.n)
        if bounded:
            similarities = np.clip(similarities, self.floor[:, None], self.ceiling[:, None])
            covered = self.floor.astype(np.float64)
        covered = np.maximum(covered, similarities[:, picks].max(axis=1, initial=0.0))
        return np.asarray(self.mass @ np.maximum(similarities - covered[:, None], 0.0))


@pytest.fixture(params=["numpy", "compiled"], autouse=True)
def _loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_gains, "_COMPILED_PAIRS", 0 if request.param == "compiled" else 10**12)
    monkeypatch.setattr(panels, "_CELLS", 64)  # several panels
    monkeypatch.setattr(candidate_lists, "_FIRST_DROP", 2)


@given(seed=st.integers(0, 9999), share=MEMORIES, bounded=st.booleans())
@settings(max_examples=60, deadline=None)
def test_gains_are_exact_whatever_was_asked_before(seed: int, share: float, bounded: bool):
    """Picks, questions about some, about all and for bounds, in any order; memory is never exceeded."""
    case, picks = Instance(seed, share), []
    part = case.part(bounded=bounded)
    for _ in range(25):
        expected = case.gains(picks, bounded=bounded)
        match int(case.random.integers(4)):
            case 0:
                picks.append(int(case.random.integers(case.m)))
                part.add(np.array(picks[-1:]))
            case 1:
                some = case.random.choice(case.m, int(case.random.integers(1, case.m + 1)), replace=False)
                assert part.gains(some).tolist() == expected[some].tolist()
            case 2:
                assert part.gains(np.arange(case.m)).tolist() == expected.tolist()
            case _:
                assert (part.bounds() >= expected).all()
        assert part.entries * ENTRY_BYTES <= case.memory


@given(seed=st.integers(0, 9999), share=MEMORIES)
@settings(max_examples=25, deadline=None)
def test_one_that_begins_with_picks_says_the_same(seed: int, share: float):
    """As a worker does that was started again."""
    case = Instance(seed, share)
    picks = case.random.integers(0, case.m, 4)

    assert case.part(picks=picks).gains(np.arange(case.m)).tolist() == case.gains(picks.tolist()).tolist()


@given(seed=st.integers(0, 9999), share=MEMORIES)
@settings(max_examples=40, deadline=None)
def test_the_lazy_greedy_over_parts_picks_as_the_naive_one_over_all(seed: int, share: float):
    """Ties included, in balanced rounds, with rows in two parts."""
    case = Instance(seed, share)
    groups, available = case.random.integers(0, 3, case.m), case.random.random(case.m) < 0.9

    parts = [case.part(slice(0, case.n // 2)), case.part(slice(case.n // 2, None))]
    expected = naive_greedy(Whole(case.gains), Rounds(groups, available, case.m))
    found = lazy_greedy(Parts(case.m, parts), Rounds(groups, available, case.m), landmarks=False)

    assert expected.order.tolist() == found.order.tolist()
    assert expected.gains.tolist() == found.gains.tolist()


@pytest.mark.parametrize(("bound", "most"), [("_MOST_ROWS", 7), ("_MOST_ENTRIES", 20)])
def test_lists_are_made_a_bounded_group_of_rows_at_a_time(monkeypatch: pytest.MonkeyPatch, bound: str, most: int):
    """With room for all pairs from the start: groups of few rows or few pairs say the same as one of all."""
    monkeypatch.setattr(panels, "_CELLS", 24)  # of few rows each
    made = []
    for seed in range(10):
        case = Instance(seed, EVERYTHING)
        whole = case.part()
        with monkeypatch.context() as bounded:
            bounded.setattr(candidate_lists, bound, most)
            part = case.part()
        made.append((groups(whole), groups(part)))
        part.add(np.array([0]))
        assert part.gains(np.arange(case.m)).tolist() == case.gains([0]).tolist()

    assert all(before == 1 for before, _ in made)
    assert max(after for _, after in made) > 1


def groups(part: CandidateGains) -> int:
    return len(part._lists._lists)


def test_results_of_panels_wait_in_bounded_groups(monkeypatch: pytest.MonkeyPatch):
    """In order, no more at a time than were allowed; with one thread, one by one."""
    monkeypatch.setattr(panels, "_WAITING_BYTES", 0)
    monkeypatch.setattr(panels, "_LEAST_WAITING", 2)
    threads, begun = Threads(), []
    threads.count = 3

    def work(rows: np.ndarray) -> int:
        begun.append(int(rows[0]))
        return int(rows[0])

    used = []
    for first in each_panel(work, np.arange(20), 64, threads):
        used.append(first)
        assert len(begun) <= 6 * (1 + (len(used) - 1) // 6)

    assert used == sorted(begun) == list(range(20))


def test_what_is_settled_is_computed_no_more():
    """With all pairs listed, further picks and questions cost no product; without memory they do."""
    case = Instance(3, EVERYTHING)
    listed = case.part()
    case.memory = 0
    dense, before = case.part(), listed.computed
    for pick in range(min(case.m, 5)):
        for part in (listed, dense):
            part.add(np.array([pick]))
            part.gains(np.arange(case.m))

    assert listed.computed == before < dense.computed
