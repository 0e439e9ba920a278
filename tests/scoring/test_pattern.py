"""Estimates against a naive reference, over suites of all shapes with scores missing anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.estimation.weights import Benchmark
from benchcore.scoring.matrix import Wanted
from benchcore.scoring.pattern import Pattern
from benchcore.scoring.picked import Picked


@st.composite
def suites(draw: st.DrawFn) -> tuple[Picked, np.ndarray]:
    """One to five benchmarks in two categories, zero to fifteen picks in each, and which of them have a score."""
    count = draw(st.integers(1, 5))
    categories = draw(st.lists(st.sampled_from("xy"), min_size=count, max_size=count))
    shares = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    counts = draw(st.lists(st.integers(0, 15), min_size=count, max_size=count))
    spare = draw(st.lists(st.integers(0, 30), min_size=count, max_size=count))
    groups = np.random.default_rng(draw(st.integers(0, 99))).permutation(np.repeat(np.arange(count), counts))
    seen = np.array(draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups))), np.bool_)
    parts = zip("abcde", categories, shares, strict=False)
    benchmarks = tuple(Benchmark(name, category, share / sum(shares)) for name, category, share in parts)
    numbers = {f"category:{name}": [n for n, one in enumerate(categories) if one == name] for name in set(categories)}
    targets = {"suite": list(range(count)), **numbers}
    targets |= {f"benchmark:{one.name}": [number] for number, one in enumerate(benchmarks)}
    coreset = Picked(
        wanted=Wanted((), (), ()),
        benchmarks=benchmarks,
        sizes=np.maximum(np.add(counts, spare), 1).astype(np.float64),
        groups=groups.astype(np.int64),
        audit=np.zeros(len(groups), np.bool_),
        method="nested_swaps",
        whole=True,
        drawn=False,
        rounds=True,
        targets={name: np.array(members) for name, members in targets.items()},
    )
    return coreset, seen


def naive(coreset: Picked, members: list[int], groups: np.ndarray, scores: np.ndarray) -> float | None:
    """Benchmarks' means by their shares in the category, of those that have one; categories' likewise."""
    total = weight = 0.0
    for category in {coreset.benchmarks[member].category for member in members}:
        own = [member for member in members if coreset.benchmarks[member].category == category]
        have = [member for member in own if (groups == member).any()]
        if have:
            inside = sum(coreset.benchmarks[member].share for member in have)
            mean = sum(scores[groups == member].mean() * coreset.benchmarks[member].share for member in have) / inside
            whole = sum(coreset.benchmarks[member].share for member in own)
            total, weight = total + whole * mean, weight + whole
    return total / weight if weight else None


@settings(deadline=None)
@given(suite=suites(), seed=st.integers(0, 99))
def test_they_are_those_of_the_naive_reference(suite: tuple[Picked, np.ndarray], seed: int):
    """Where they are estimable; with ends around them; and borrowed is the share of benchmarks without a score."""
    coreset, seen = suite
    groups, scores = coreset.groups[seen], np.random.default_rng(seed).uniform(size=int(seen.sum()))
    part = Pattern(coreset, seen, scores[:, None], 0.95)

    for target, members in coreset.targets.items():
        (found,) = part.estimates(target, members, ["one"])
        expected = naive(coreset, members.tolist(), groups, scores)
        present = [member for member in members.tolist() if (groups == member).any()]
        whole = sum(coreset.benchmarks[member].share for member in members.tolist())
        assert found.borrowed == pytest.approx(1 - sum(coreset.benchmarks[member].share for member in present) / whole)
        assert found.prompts + found.missing == np.isin(coreset.groups, members).sum() or found.borrowed == 1
        if found.estimate is None:
            assert found.reason is not None and found.n_eff < 10
            assert found.needed_k is None or found.needed_k > coreset.k
            continue
        assert expected is not None and found.estimate == pytest.approx(expected)
        assert -1e-9 <= found.low <= found.estimate + 1e-9 and found.estimate - 1e-9 <= found.high <= 1 + 1e-9
        assert found.kind == ("exact" if coreset.complete(members, groups) else "model")


@settings(deadline=None)
@given(suite=suites())
def test_a_coreset_of_the_needed_size_makes_a_target_estimable(suite: tuple[Picked, np.ndarray]):
    """And one of one round less does not."""
    coreset, _ = suite
    for target, members in coreset.targets.items():
        needed = coreset.needed_k(members)
        assert needed is not None
        rounds = [count for count in range(1, 50) if np.minimum(coreset.sizes, count).sum() >= needed]
        for count, enough in ((rounds[0], True), (rounds[0] - 1, False)):
            counts = np.minimum(coreset.sizes, count).astype(int)
            groups = np.repeat(np.arange(len(counts)), counts)
            larger = Picked(**{**vars(coreset), "groups": groups, "audit": np.zeros(len(groups), np.bool_)})
            part = Pattern(larger, np.ones(len(groups), np.bool_), np.linspace(0, 1, len(groups))[:, None], 0.95)
            (found,) = part.estimates(target, members, ["one"])
            assert (found.estimate is not None) == enough


def test_audit_intervals_hold_where_the_chosen_picks_mislead():
    """The core are the easiest prompts of each benchmark: the estimate is far off, the interval is honest."""
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 250)
    easiness = generator.normal(size=1000)
    scores = (easiness[:, None] + generator.normal(size=(1000, 10)) + generator.uniform(-0.5, 1, 10) > 0) * 1.0
    truth = scores.mean(axis=0)
    held, off, repeats = 0.0, 0.0, 200
    for _ in range(repeats):
        drawn = np.concatenate([generator.choice(np.flatnonzero(groups == g), 15, replace=False) for g in range(4)])
        left = np.setdiff1d(np.arange(1000), drawn)
        core = np.concatenate(
            [own[np.argsort(-easiness[own])[:35]] for own in (left[groups[left] == g] for g in range(4))]
        )
        picks = np.concatenate([core, drawn])
        coreset = Picked(
            wanted=Wanted((), (), ()),
            benchmarks=tuple(Benchmark(name, "x", 0.25) for name in "abcd"),
            sizes=np.full(4, 250.0),
            groups=groups[picks],
            audit=np.arange(200) >= 140,
            method="nested_swaps",
            whole=True,
            drawn=False,
            rounds=True,
            targets={},
        )
        part = Pattern(coreset, np.ones(200, np.bool_), scores[picks], 0.95)
        found = part.estimates("suite", np.arange(4), [str(number) for number in range(10)])
        assert {each.kind for each in found} == {"audit"}
        held += np.mean([each.low <= real <= each.high for each, real in zip(found, truth, strict=True)])
        off += np.mean([each.estimate - real for each, real in zip(found, truth, strict=True)])

    assert off / repeats > 0.15
    assert held / repeats > 0.95 - 1.96 * np.sqrt(0.05 * 0.95 / repeats)
