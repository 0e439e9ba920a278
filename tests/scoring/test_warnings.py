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

    assert [alarm.model for alarm in found.alarms] == ["stranger"]
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


@pytest.fixture
def audited(tmp_path: Path) -> Picked:
    """A hundred chosen picks and sixty drawn ones, in two benchmarks of a thousand."""
    suite = planted(tmp_path, {"a": 1000, "b": 1000}, {"a": 80, "b": 80}, audit=30)
    return picked(suite.registry, suite.manifest)


def biased(coreset: Picked, shift: float, repeats: int) -> float:
    """Share of tests that say so, where chosen picks are easier by a shift; eight models, right or wrong."""
    generator, found = np.random.default_rng(0), 0
    for _ in range(repeats):
        difficulty = generator.normal(size=160) + np.where(coreset.audit, 0.0, shift)
        latent = difficulty[:, None] + generator.normal(size=(160, 8)) + generator.normal(size=8)
        told = bias_test(coreset, (latent > 0).astype(np.float64), 0.95)
        assert told is not None
        found += told.biased
    return found / repeats


def test_chosen_picks_that_mislead_are_found_and_others_seldom(audited: Picked):
    """A false alarm in one of twenty, within the binomial band."""
    assert biased(audited, 0.0, 300) == pytest.approx(0.05, abs=1.96 * np.sqrt(0.05 * 0.95 / 300))
    assert biased(audited, 0.8, 50) > 0.9


def test_there_is_no_test_without_an_audit_or_with_a_small_one(tmp_path: Path):
    for name, audit in (("none", 0), ("small", 4)):
        suite = planted(tmp_path / name, {"a": 90, "b": 90}, {"a": 20, "b": 20}, audit=audit)
        suite.score("one", [1.0, 0.0] * 20)
        assert estimate(suite.registry, suite.manifest).bias is None
