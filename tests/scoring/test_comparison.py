"""Two models on the same prompts."""

from pathlib import Path

import numpy as np
import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.scoring.comparison import Comparison, TargetDifference, compare
from benchcore.scoring.estimates import estimate
from tests.scoring.planted import Planted, planted


@pytest.fixture
def suite(tmp_path: Path) -> Planted:
    return planted(tmp_path, {"a": 200, "b": 200}, {"a": 30, "b": 30}, method="random")


def of(found: Comparison, target: str) -> TargetDifference:
    return next(each for each in found.targets if each.target == target)


def test_a_difference_is_that_of_the_estimates_and_better_known(suite: Planted):
    """Models that mostly agree: the interval is far narrower than those of the two."""
    scores = np.random.default_rng(0).integers(0, 2, 60).astype(float)
    changed = scores.copy()
    changed[[3, 40]] = 1 - changed[[3, 40]]
    suite.score("one", scores.tolist())
    suite.score("two", changed.tolist())
    found = compare(suite.registry, suite.manifest, "one", "two")
    single = {each.model: each for each in estimate(suite.registry, suite.manifest).targets if each.target == "suite"}

    assert found.suite.estimate == pytest.approx(single["one"].estimate - single["two"].estimate)
    assert found.suite.high - found.suite.low < 0.7 * (single["one"].high - single["one"].low)
    assert found.suite.kind == "design"


def test_the_better_one_is_found(suite: Planted):
    """Whichever is named first; nothing further is needed."""
    suite.score("good", [1.0, 1.0, 1.0, 0.0, 1.0] * 12)
    suite.score("bad", [1.0, 0.0, 0.0, 0.0, 1.0] * 12)
    forth, back = (compare(suite.registry, suite.manifest, *pair) for pair in (("good", "bad"), ("bad", "good")))

    assert forth.suite.low > 0 and forth.suite.further == 0
    assert back.suite.high == pytest.approx(-forth.suite.low)


def test_further_prompts_are_counted_where_it_is_open(suite: Planted):
    """At most all others; none where there is no difference at all."""
    suite.score("one", [1.0, 0.0, 0.0, 1.0, 0.0, 1.0] * 10)
    suite.score("two", [0.0, 1.0, 0.0, 0.0, 0.0, 1.0] * 10)
    suite.score("same", [1.0, 0.0, 0.0, 1.0, 0.0, 1.0] * 10)

    open_ = compare(suite.registry, suite.manifest, "one", "two").suite
    assert open_.low <= 0 <= open_.high and 0 < open_.further <= 340
    equal = compare(suite.registry, suite.manifest, "one", "same").suite
    assert (equal.estimate, equal.further) == (0.0, None) and equal.high > 0.01


def test_picks_that_one_has_no_score_on_are_left_out_and_said(suite: Planted):
    """Of the others, weights stay in the benchmarks."""
    suite.score("one", dict.fromkeys(suite.picks[:58].tolist(), 1.0))
    suite.score("two", dict.fromkeys(suite.picks[5:].tolist(), 0.0))
    found = compare(suite.registry, suite.manifest, "one", "two")

    assert (found.suite.prompts, found.suite.estimate) == (53, pytest.approx(1.0))
    assert "7 of 60 picks are left out, without a score (one 2, two 5)" in found.notes


def test_benchmarks_with_too_few_picks_have_no_difference(tmp_path: Path):
    suite = planted(tmp_path, {"a": 90, "b": 90}, {"a": 20, "b": 4})
    suite.score("one", [1.0, 0.0] * 12)
    suite.score("two", [0.0, 1.0] * 12)
    found = compare(suite.registry, suite.manifest, "one", "two")

    assert of(found, "benchmark:a").estimate is not None
    assert (of(found, "benchmark:b").estimate, of(found, "benchmark:b").further) == (None, None)


def test_picks_under_different_metrics_are_no_missing_scores(suite: Planted):
    """They are told apart from these; where nothing else is shared, it is refused with both metrics' names."""
    suite.score("one", [1.0] * 60, metric="score")
    suite.score("two", [0.0] * 60, metric="right")
    with pytest.raises(BenchcoreError, match=r"share 60 picks, but under different metrics \(right, score\)"):
        compare(suite.registry, suite.manifest, "one", "two")

    suite.score("two", dict.fromkeys(suite.picks[:20].tolist(), 0.0), metric="score")
    found = compare(suite.registry, suite.manifest, "one", "two")
    assert found.suite.prompts == 20
    assert "left out: 40 picks, but under different metrics (right, score) (--metric)" in found.notes
    assert not any("without a score" in note for note in found.notes)


def test_models_that_were_scored_on_everything_differ_exactly(suite: Planted):
    """It is said; and the whole suite is compared where its prompts are given."""
    scores = np.random.default_rng(0).integers(0, 2, (2, 400)).astype(float)
    suite.score("one", dict(enumerate(scores[0].tolist())))
    suite.score("two", dict(enumerate(scores[1].tolist())))
    plain = compare(suite.registry, suite.manifest, "one", "two")
    whole = compare(suite.registry, suite.manifest, "one", "two", pool=suite.pool)

    assert any("--all compares on these" in note for note in plain.notes)
    assert (whole.everywhere, whole.suite.kind, whole.suite.prompts) == (True, "exact", 400)
    assert whole.suite.estimate == pytest.approx(float((scores[0] - scores[1]).mean()))
    assert whole.suite.low == whole.suite.high == whole.suite.estimate
    assert whole.notes == ()


def test_what_cannot_be_compared_is_refused(suite: Planted):
    """A model with itself, one without scores, two without a pick in common."""
    suite.score("one", dict.fromkeys(suite.picks[:20].tolist(), 1.0))
    suite.score("two", dict.fromkeys(suite.picks[20:].tolist(), 1.0))

    with pytest.raises(UsageError, match="itself"):
        compare(suite.registry, suite.manifest, "one", "one")
    with pytest.raises(UsageError, match="no scores of three"):
        compare(suite.registry, suite.manifest, "one", "three")
    with pytest.raises(BenchcoreError, match=r"no pick in common \(20 and 40 picks"):
        compare(suite.registry, suite.manifest, "one", "two")
