"""Laws of the weights that picks carry for each target."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.estimation.weights import Benchmark, target_weights

SUITE = (
    Benchmark("a1", "a", 1.0),
    Benchmark("a2", "a", 1.0),
    Benchmark("b1", "b", 1.0),
    Benchmark("b2", "b", 1.0),
    Benchmark("c1", "c", 1.0),
)
names = st.sampled_from([benchmark.name for benchmark in SUITE])


@given(picked=st.lists(names, min_size=1, max_size=40), seed=st.integers(0, 99))
def test_every_target_sums_to_one(picked: list[str], seed: int):
    """Whatever is absent and whatever the shares, and no weight is negative."""
    shares = np.random.default_rng(seed).choice([0.0, 0.3, 2.0], len(SUITE))
    suite = [Benchmark(b.name, b.category, share) for b, share in zip(SUITE, shares, strict=True)]

    targets = target_weights(picked, suite).targets

    assert all(abs(weights.sum() - 1) < 1e-12 and weights.min() >= 0 for weights in targets.values())
    assert {f"benchmark:{name}" for name in picked} == {target for target in targets if target.startswith("benchmark:")}


def test_with_all_present_a_pick_weighs_one_over_benchmarks_times_its_benchmarks_picks():
    """1 / (B q_b)."""
    picked = ["a1", "a1", "a2", "b1", "b2", "c1", "c1", "c1"]

    weights = target_weights(picked, SUITE)

    assert np.allclose([0.1, 0.1, 0.2, 0.2, 0.2, 1 / 15, 1 / 15, 1 / 15], weights.targets["suite"])
    assert np.allclose([0.25, 0.25, 0.5, 0, 0, 0, 0, 0], weights.targets["category:a"])
    assert np.allclose([0.5, 0.5, 0, 0, 0, 0, 0, 0], weights.targets["benchmark:a1"])
    assert weights.borrowed == ()


def test_the_whole_is_estimated_exactly_when_a_benchmark_scores_as_its_picks():
    """Weighted scores of the picks equal the shares' mean of the benchmarks' scores."""
    suite = [Benchmark(b.name, b.category, share) for b, share in zip(SUITE, (1, 2, 3, 4, 5), strict=True)]
    score = {"a1": 0.1, "a2": 0.9, "b1": 0.4, "b2": 0.2, "c1": 0.7}
    picked = ["a1", "a2", "a2", "b1", "b2", "c1", "a1", "c1"]

    estimate = target_weights(picked, suite).targets["suite"] @ [score[name] for name in picked]

    assert np.isclose(sum(b.share * score[b.name] for b in suite) / 15, estimate)


def test_an_absent_benchmark_lends_to_its_category_and_an_absent_category_to_all():
    """And both are flagged; neither is a target."""
    weights = target_weights(["a1", "b1", "b2"], SUITE)

    assert weights.borrowed == ("a2", "c1")
    assert np.allclose([0.5, 0.25, 0.25], weights.targets["suite"])
    assert {"suite", "category:a", "category:b", "benchmark:a1", "benchmark:b1", "benchmark:b2"} == set(weights.targets)


def test_picks_from_elsewhere_and_no_picks_are_refused():
    """Rather than weighed silently."""
    with pytest.raises(ValueError, match="zz"):
        target_weights(["a1", "zz"], SUITE)
    with pytest.raises(ValueError, match="nothing"):
        target_weights([], SUITE)
