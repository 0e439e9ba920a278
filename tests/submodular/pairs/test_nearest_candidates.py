"""Gains where each row is covered by its nearest candidates alone: those of the greedy on the sparsified matrix."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.pairs import candidate_gains, candidate_lists, panels
from benchcore.submodular.pairs.candidate_gains import CandidateGains
from benchcore.submodular.pairs.threads import Threads
from tests.submodular.pairs.parts import Parts, Whole

NONE = np.zeros(0, np.int64)


class Instance:
    """Rows and candidates of few distinct whole numbers, so that many similarities are equal, and t neighbours."""

    def __init__(self, seed: int, *, bounded: bool = False) -> None:
        self.random = random = np.random.default_rng(seed)
        self.m, self.n = int(random.integers(1, 25)), int(random.integers(1, 60))
        self.t = int(random.integers(1, self.m + 2))
        self.candidates = random.integers(-6, 7, (self.m, 3)).astype(np.float32)
        self.rows = random.integers(-6, 7, (self.n, 3)).astype(np.float32)
        self.mass = random.integers(0, 5, self.n).astype(np.float64)
        self.floor = random.integers(0, 20, self.n).astype(np.float32)
        self.ceiling = self.floor + random.integers(0, 60, self.n).astype(np.float32)
        self.bounded = bounded

    def part(self, rows: slice = slice(None), picks: np.ndarray = NONE) -> CandidateGains:
        limits = {"floor": self.floor[rows], "ceiling": self.ceiling[rows]} if self.bounded else {}
        data = self.candidates, self.rows[rows], self.mass[rows], picks
        return CandidateGains(*data, memory=0, neighbours=self.t, threads=Threads(), **limits)

    def neighbours(self) -> list[list[int]]:
        """Of each row the t most similar candidates, the lowest numbers of equals, by sorting all."""
        similar = self.rows.astype(np.float64) @ self.candidates.T.astype(np.float64)
        return [sorted(range(self.m), key=lambda j: (-row[j], j))[: self.t] for row in similar]

    def gains(self, picks: list[int]) -> np.ndarray:
        """From the definition, in double precision, on the matrix in which whatever is further is nought."""
        similar = self.rows.astype(np.float64) @ self.candidates.T.astype(np.float64)
        sparse = np.zeros_like(similar)
        for row, kept in enumerate(self.neighbours()):
            sparse[row, kept] = np.maximum(similar[row, kept], 0.0)
        low, high = (self.floor, self.ceiling) if self.bounded else (np.zeros(self.n), np.full(self.n, np.inf))
        reached = np.clip(sparse, low[:, None], high[:, None])
        covered = np.maximum(low, reached[:, picks].max(axis=1, initial=0.0))
        return np.asarray(self.mass @ np.maximum(reached - covered[:, None], 0.0))


@pytest.fixture(params=["numpy", "compiled"], autouse=True)
def _loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_gains, "_COMPILED_PAIRS", 0 if request.param == "compiled" else 10**12)
    monkeypatch.setattr(panels, "_CELLS", 64)  # several panels
    monkeypatch.setattr(candidate_lists, "_FIRST_DROP", 2)


@given(seed=st.integers(0, 9999), bounded=st.booleans())
@settings(max_examples=60, deadline=None)
def test_gains_are_those_on_the_sparsified_matrix(seed: int, bounded: bool):
    """Whatever was asked before, with picks that were there from the start; never more than t pairs a row."""
    case = Instance(seed, bounded=bounded)
    picks = case.random.integers(0, case.m, int(case.random.integers(3))).tolist()
    part = case.part(picks=np.array(picks, np.int64))
    for _ in range(15):
        expected = case.gains(picks)
        match int(case.random.integers(3)):
            case 0:
                picks.append(int(case.random.integers(case.m)))
                part.add(np.array(picks[-1:]))
            case 1:
                some = case.random.choice(case.m, int(case.random.integers(1, case.m + 1)), replace=False)
                assert part.gains(some).tolist() == expected[some].tolist()
            case _:
                assert (part.bounds() >= expected).all()
        assert part.entries <= case.t * case.n

    assert part.computed == case.m * case.n


@given(seed=st.integers(0, 9999))
@settings(max_examples=40, deadline=None)
def test_the_greedy_over_any_parts_picks_as_the_naive_one(seed: int):
    """Ties included, in balanced rounds, in one part, in two and in many."""
    case = Instance(seed)
    groups, available = case.random.integers(0, 3, case.m), case.random.random(case.m) < 0.9
    expected = naive_greedy(Whole(case.gains), Rounds(groups, available, case.m))

    for count in (1, 2, 5):
        cuts = np.linspace(0, case.n, count + 1).astype(int)
        parts = Parts(case.m, [case.part(slice(*cut)) for cut in pairwise(cuts)])
        found = lazy_greedy(parts, Rounds(groups, available, case.m), landmarks=False)
        assert expected.order.tolist() == found.order.tolist()
        assert expected.gains.tolist() == found.gains.tolist()


@given(seed=st.integers(0, 9999))
@settings(max_examples=40, deadline=None)
def test_rows_are_reached_by_the_first_pick_among_their_neighbours(seed: int):
    """Whatever has been picked meanwhile; rows without one are told."""
    case = Instance(seed)
    part = case.part()
    order = case.random.permutation(case.m)[: int(case.random.integers(1, case.m + 1))]
    places = [[place for place, pick in enumerate(order) if pick in kept] for kept in case.neighbours()]
    expected = [place[0] if place else len(order) for place in places]
    part.add(order[:2])

    assert part.reached(order).tolist() == expected


def test_all_candidates_as_neighbours_are_no_restriction():
    """Gains and order are those of the exact merge."""
    for seed in range(20):
        case = Instance(seed)
        case.t = case.m
        exact = CandidateGains(case.candidates, case.rows, case.mass, NONE, memory=10**6)
        every = np.arange(case.m)
        assert case.part().gains(every).tolist() == exact.gains(every).tolist()
