"""Laws of the facility location objective."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.submodular import facility_location
from benchcore.submodular.facility_location import FacilityLocation
from benchcore.submodular.quantise import integer_mass, quantise


def instance(seed: int, n: int, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    rows = quantise(random.normal(size=(n, d)).astype(np.float32), np.zeros(d))
    return rows, integer_mass(random.dirichlet(np.ones(n)), np.zeros(n, np.int64))


def value(rows: np.ndarray, mass: np.ndarray, picks: list[int]) -> int:
    similarity = np.maximum(rows.astype(np.int64) @ rows.astype(np.int64).T, 0)
    return int(mass.astype(np.int64) @ similarity[:, picks].max(axis=1, initial=0))


@given(seed=st.integers(0, 999), n=st.integers(2, 30), picks=st.integers(0, 6))
def test_gains_are_differences_of_the_value(seed: int, n: int, picks: int):
    """Exactly, for one candidate, for all of them, and for the value itself, after any picks."""
    rows, mass = instance(seed, n)
    objective, chosen = FacilityLocation(rows, mass), []
    for pick in np.random.default_rng(seed).integers(0, n, picks).tolist():
        objective.all_gains()
        objective.add(pick)
        chosen.append(pick)
    before = value(rows, mass, chosen)
    expected = [value(rows, mass, [*chosen, candidate]) - before for candidate in range(n)]

    assert before == objective.value
    assert expected == objective.gains(np.arange(n)).tolist()
    assert expected == objective.all_gains().tolist()


@given(seed=st.integers(0, 999), n=st.integers(2, 25))
def test_gains_never_grow(seed: int, n: int):
    """Diminishing returns, and never negative."""
    rows, mass = instance(seed, n)
    objective = FacilityLocation(rows, mass)
    steps = []
    for pick in np.random.default_rng(seed).permutation(n).tolist():
        steps.append(objective.all_gains())
        objective.add(pick)

    assert all((now <= before).all() for before, now in itertools.pairwise(steps))
    assert all((step >= 0).all() for step in steps)


@given(seed=st.integers(0, 999), n=st.integers(2, 40), cut=st.integers(1, 39))
def test_parts_of_the_represented_rows_add_up(seed: int, n: int, cut: int):
    """What shards compute on their own rows sums to the whole."""
    rows, mass = instance(seed, n)
    parts = [slice(0, min(cut, n - 1)), slice(min(cut, n - 1), n)]
    shards = [FacilityLocation(rows[part], mass[part], rows) for part in parts]
    whole = FacilityLocation(rows, mass)
    for objective in (*shards, whole):
        objective.add(0)

    assert np.array_equal(whole.all_gains(), sum(shard.all_gains() for shard in shards))


@pytest.mark.parametrize(("rows_at_once", "cells"), [(1, 1), (3, 7), (5, 10_000), (2048, 2**20)])
def test_block_sizes_change_nothing(monkeypatch: pytest.MonkeyPatch, rows_at_once: int, cells: int):
    """Not one bit."""
    rows, mass = instance(3, 50)
    expected = [value(rows, mass, [7, candidate]) - value(rows, mass, [7]) for candidate in range(50)]
    monkeypatch.setattr(facility_location, "_BLOCK_ROWS", rows_at_once)
    monkeypatch.setattr(facility_location, "_BLOCK_CELLS", cells)
    objective = FacilityLocation(rows, mass)
    objective.all_gains()
    objective.add(7)

    assert expected == objective.all_gains().tolist()


def test_threads_change_nothing():
    """One and many BLAS threads give the same bits."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    rows, mass = instance(4, 700, 100)
    gains = []
    for threads in (1, 2, 4):
        with threadpoolctl.threadpool_limits(threads):
            gains.append(FacilityLocation(rows, mass).all_gains())

    assert np.array_equal(gains[0], gains[1])
    assert np.array_equal(gains[0], gains[2])
