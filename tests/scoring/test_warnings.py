"""What warns: a model unlike the others, and chosen picks that mislead."""

from pathlib import Path

import numpy as np
import orjson
import pytest

from benchcore.cli.estimate import as_json
from benchcore.scoring.alarm import alarms
from benchcore.scoring.bias import bias_test
from benchcore.scoring.estimates import estimate
from benchcore.scoring.picked import Picked, picked
from tests.scoring.planted import planted


def test_a_model_unlike_the_others_is_named(tmp_path: Path):
    """Against the others on the coreset, without a panel."""
    suite = planted(tmp_path, {"a": 300, "b": 300}, {"a": 75, "b": 75})
    generator = np.random.default_rng(0)
    difficulty = generator.normal(size=150)
    for number in range(9):
        latent = difficulty + 0.7 * generator.normal(size=150)
        suite.score(f"m{number}", (latent > 0).astype(float).tolist())
    suite.score("stranger", (generator.normal(size=150) > 0).astype(float).tolist())
    found = estimate(suite.registry, suite.manifest)

    alone, other = (estimate(suite.registry, suite.manifest, models=[name]) for name in ("stranger", "m3"))

    assert [alarm.model for alarm in found.alarms] == ["stranger"]
    assert (alone.alarms, other.alarms) == (found.alarms, ())
    assert alone.models == ("stranger",)
    suite.score("known", dict.fromkeys(range(600), 1.0))
    small = estimate(suite.registry, suite.manifest, pool=suite.pool, panel=["known"])
    assert [alarm.model for alarm in small.alarms] == ["stranger"]  # a panel of one says nothing of what is usual
    assert found.alarms[0].agreement < found.alarms[0].least < found.alarms[0].usual
    assert orjson.loads(orjson.dumps(as_json(found)))["alarms"][0]["model"] == "stranger"


@pytest.mark.parametrize("count", [12, 40])
def test_of_many_models_the_strangers_are_named(tmp_path: Path, count: int):
    """Few are held against the others without themselves, many against all at once: the same strangers stand out."""
    suite = planted(tmp_path, {"a": 300}, {"a": 100})
    coreset, generator = picked(suite.registry, suite.manifest), np.random.default_rng(0)
    latent = generator.normal(size=100)[:, None] + 0.7 * generator.normal(size=(100, count))
    latent[:, :2] = generator.normal(size=(100, 2))
    scores = (latent > 0).astype(np.float64)
    scores[3, 5] = np.nan
    names = [f"m{number:02d}" for number in range(count)]

    assert {"m00", "m01"} <= {alarm.model for alarm in alarms(coreset, names, scores, None)}
    against_panel = alarms(coreset, names[:4], scores[:, :4], scores[:, 4:])
    assert {"m00", "m01"} <= {alarm.model for alarm in against_panel}
    assert {alarm.others for alarm in against_panel} == {count - 4}


def test_gaps_hide_no_stranger_and_make_none(tmp_path: Path):
    """A few missing scores, on other picks for each of many models: nearly the same figures as without."""
    suite = planted(tmp_path, {"a": 300, "b": 300}, {"a": 60, "b": 60})
    coreset, generator = picked(suite.registry, suite.manifest), np.random.default_rng(0)
    latent = generator.normal(size=(120, 1)) + 0.7 * generator.normal(size=(120, 30))
    latent[:, 0] = generator.normal(size=120)
    scores = (latent > 0).astype(np.float64)
    gaps = np.where(generator.uniform(size=scores.shape) < 0.02, np.nan, scores)
    names = [f"m{number}" for number in range(30)]

    (whole,), (gapped,) = (alarms(coreset, names, each, None) for each in (scores, gaps))
    assert whole.model == gapped.model == "m0"
    assert gapped.least == pytest.approx(whole.least, abs=0.03)


@pytest.fixture
def audited(tmp_path: Path) -> Picked:
    """A hundred chosen picks and sixty drawn ones, in two benchmarks of a thousand."""
    suite = planted(tmp_path, {"a": 1000, "b": 1000}, {"a": 80, "b": 80}, audit=30)
    return picked(suite.registry, suite.manifest)


def biased(coreset: Picked, shift: float, repeats: int, strength: float = 0.0) -> float:
    """Share of tests that say so, where chosen picks are easier by a shift; eight models, right or wrong."""
    generator, found = np.random.default_rng(0), 0
    for _ in range(repeats):
        difficulty = generator.normal(size=coreset.k) + np.where(coreset.audit, 0.0, shift)
        latent = difficulty[:, None] + generator.normal(size=(coreset.k, 8)) + generator.normal(size=8) + strength
        told = bias_test(coreset, (latent > 0).astype(np.float64), 0.95)
        assert told is not None
        found += told.biased
    return found / repeats


def test_chosen_picks_that_mislead_are_found_and_others_seldom(audited: Picked):
    """A false alarm in one of twenty, within the binomial band."""
    assert biased(audited, 0.0, 300) == pytest.approx(0.05, abs=1.96 * np.sqrt(0.05 * 0.95 / 300))
    assert biased(audited, 0.8, 50) > 0.9


def test_false_alarms_stay_seldom_for_strong_models_and_a_small_audit(tmp_path: Path):
    """Few of the audit's picks are answered wrong, so that they alone show too little of how scores vary."""
    suite = planted(tmp_path, {"a": 1000, "b": 1000}, {"a": 200, "b": 200}, audit=10)
    coreset = picked(suite.registry, suite.manifest)

    assert biased(coreset, 0.0, 300, strength=2.5) == pytest.approx(0.05, abs=1.96 * np.sqrt(0.05 * 0.95 / 300))


def test_false_alarms_stay_seldom_where_the_picks_are_most_of_a_benchmark(tmp_path: Path):
    """Drawn without replacement from the same prompts: where the audit has the hard ones, the core lacks them."""
    suite = planted(tmp_path, {"a": 50, "b": 50}, {"a": 45, "b": 45}, audit=20)
    coreset = picked(suite.registry, suite.manifest)
    generator, found = np.random.default_rng(0), 0
    easiness = generator.normal(size=(100, 1))
    answers = (easiness + generator.normal(size=(100, 8)) > 0).astype(np.float64)
    for _ in range(300):
        drawn = np.empty(90, np.int64)
        for number in range(2):
            drawn[coreset.groups == number] = 50 * number + generator.permutation(50)[:45]
        told = bias_test(coreset, answers[drawn], 0.95)
        found += told is not None and told.biased

    assert found / 300 == pytest.approx(0.05, abs=1.96 * np.sqrt(0.05 * 0.95 / 300))


def test_the_bias_test_leans_on_all_models_whoever_is_estimated(tmp_path: Path):
    """And not on the one that is named alone."""
    suite = planted(tmp_path, {"a": 300, "b": 300}, {"a": 40, "b": 40}, audit=15)
    generator = np.random.default_rng(0)
    for name in ("one", "two", "three"):
        suite.score(name, generator.integers(0, 2, 80).astype(float).tolist())

    assert (
        estimate(suite.registry, suite.manifest, models=["two"]).bias == estimate(suite.registry, suite.manifest).bias
    )


def test_there_is_no_test_without_an_audit_or_with_a_small_one(tmp_path: Path):
    for name, audit in (("none", 0), ("small", 4)):
        suite = planted(tmp_path / name, {"a": 90, "b": 90}, {"a": 20, "b": 20}, audit=audit)
        suite.score("one", [1.0, 0.0] * 20)
        assert estimate(suite.registry, suite.manifest).bias is None
