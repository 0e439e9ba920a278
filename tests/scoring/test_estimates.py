"""Estimates of a coreset: the weights, what is borrowed, what is not estimable, and where intervals come from."""

from pathlib import Path

import numpy as np
import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.manifests import read_weights
from benchcore.scoring.estimates import Estimates, estimate
from benchcore.scoring.target_estimate import TargetEstimate
from tests.scoring.planted import CORESET, Planted, planted


def of(found: Estimates, target: str = "suite", model: str = "one") -> TargetEstimate:
    (own,) = (each for each in found.targets if (each.model, each.target) == (model, target))
    return own


def test_an_estimate_is_the_stored_weights_times_the_scores(tmp_path: Path):
    """For the suite, a category and a benchmark; the weights are those in the table."""
    suite = planted(tmp_path, {"a": 90, "b": 90, "c": 90}, {"a": 20, "b": 15, "c": 0}, categories={"a": "x"})
    scores = np.random.default_rng(0).uniform(size=35)
    suite.score("one", scores.tolist())
    found = estimate(suite.registry, suite.manifest)

    by_id = dict(zip((suite.prompts[pick]["prompt_id"] for pick in suite.picks), scores, strict=True))
    for target in ("suite", "category:general", "benchmark:a"):
        weights = read_weights(suite.registry, CORESET, target)
        assert of(found, target).estimate == pytest.approx(sum(weights[name] * by_id[name] for name in weights))
    assert [each.target for each in found.targets] == [
        "suite", "category:general", "category:x", "benchmark:a", "benchmark:b", "benchmark:c",
    ]  # fmt: skip


def test_a_benchmark_without_picks_is_borrowed_and_no_target(tmp_path: Path):
    """The interval of the suite says that it cannot vouch for that part."""
    suite = planted(tmp_path, {"a": 90, "b": 90, "c": 90}, {"a": 20, "b": 20})
    suite.score("one", [1.0, 0.0] * 20)
    found = estimate(suite.registry, suite.manifest)

    assert of(found).borrowed == pytest.approx(1 / 3)
    assert any("33.3 % of the suite is borrowed" in note for note in found.notes)
    lost = of(found, "benchmark:c")
    assert (lost.estimate, lost.low, lost.high, lost.reason) == (None, None, None, "no pick of it")
    assert lost.needed_k is None or lost.needed_k > 40


def test_a_missing_score_leaves_its_weight_in_its_benchmark(tmp_path: Path):
    """A harness that crashed on three easy prompts does not move weight to another benchmark."""
    suite = planted(tmp_path, {"a": 90, "b": 90}, {"a": 20, "b": 20})
    scores = dict(zip(suite.picks.tolist(), [1.0] * 20 + [0.0] * 20, strict=True))
    for crashed in suite.picks[:3].tolist():
        scores[crashed] = None
    suite.score("one", scores)
    found = estimate(suite.registry, suite.manifest)

    assert of(found).estimate == pytest.approx(0.5)
    assert (of(found).prompts, of(found).missing) == (37, 3)
    assert any("3 of 40 picks have no score" in note for note in found.notes)


def test_what_is_true_of_many_models_is_one_note(tmp_path: Path):
    """With their names where they are few."""
    suite = planted(tmp_path, {"a": 90, "b": 90}, {"a": 20, "b": 20})
    for number in range(5):
        suite.score(f"m{number}", dict.fromkeys(suite.picks[3:].tolist(), 1.0))
    suite.score("other", dict.fromkeys(suite.picks[4:].tolist(), 1.0))

    assert estimate(suite.registry, suite.manifest).notes == (
        "5 models: 3 of 40 picks have no score; taken as missing at random",
        "other: 4 of 40 picks have no score; taken as missing at random",
    )


def test_scores_of_another_metric_are_no_missing_scores(tmp_path: Path):
    """A target that is not estimable for them says so, the whole and its benchmarks."""
    suite = planted(tmp_path, {"a": 90, "b": 90}, {"a": 20, "b": 20})
    for number in range(2):
        suite.score(f"m{number}", [1.0, 0.0] * 20)
    suite.score("one", [1.0] * 40, metric="right")
    suite.score("half", dict.fromkeys(suite.picks[:20].tolist(), 1.0))
    suite.score("half", dict.fromkeys(suite.picks[20:].tolist(), 1.0), metric="right")
    found = estimate(suite.registry, suite.manifest)

    for target in ("suite", "category:general", "benchmark:b"):
        assert of(found, target).reason == "scores of another metric only (right); --metric"
    assert of(found, "benchmark:b", "half").reason == "scores of another metric only (right); --metric"
    assert of(found, "suite", "half").estimate == 1.0
    assert not any("no score" in note for note in found.notes)


def test_a_model_with_scores_on_everything_needs_no_estimate(tmp_path: Path):
    """It is said, with what takes them; not of one whose rows are as many, but of fewer prompts."""
    suite = planted(tmp_path, {"a": 90, "b": 90}, {"a": 20, "b": 20})
    suite.score("known", dict.fromkeys(range(180), 1.0))
    suite.score("nearly", dict.fromkeys(range(175), 1.0))
    for number in range(5):
        suite.score("picks", [1.0, 0.0] * 20, run=str(number))
    found = estimate(suite.registry, suite.manifest)

    assert [note for note in found.notes if "--panel" in note] == [
        "known: scores on 180 of all 180 prompts, of which only the picks count; --panel takes all",
        "nearly: scores on 175 of all 180 prompts, of which only the picks count; --panel takes all",
    ]
    assert not any("picks count" in note for note in estimate(suite.registry, suite.manifest, pool=suite.pool).notes)


def test_models_with_other_scores_missing_do_not_touch_each_other(tmp_path: Path):
    """Each has what it has alone."""
    suite = planted(tmp_path, {"a": 90, "b": 90}, {"a": 20, "b": 20})
    suite.score("one", [1.0, 0.0] * 20)
    suite.score("two", dict.fromkeys(suite.picks[:30].tolist(), 1.0) | dict.fromkeys(suite.picks[30:33].tolist(), 0.0))
    both = estimate(suite.registry, suite.manifest)

    for model in ("one", "two"):
        alone = estimate(suite.registry, suite.manifest, models=[model])
        assert alone.targets == tuple(each for each in both.targets if each.model == model)


def test_below_ten_effective_picks_a_target_is_not_estimable(tmp_path: Path):
    """With the size of a coreset in balanced rounds that would make it so: ten of each of two, all eight of a third."""
    suite = planted(tmp_path, {"a": 90, "b": 90, "c": 8}, {"a": 4, "b": 4, "c": 4})
    suite.score("one", [1.0, 0.0, 1.0, 1.0] * 3)
    found = estimate(suite.registry, suite.manifest)

    assert of(found).estimate == pytest.approx(0.75)
    short = of(found, "benchmark:a")
    assert (short.estimate, short.n_eff, short.needed_k) == (None, pytest.approx(4), 28)
    assert short.reason == "4.0 effective picks are fewer than 10"
    assert of(found, "benchmark:c").needed_k == 24


def test_a_size_is_not_told_where_picks_are_not_in_rounds(tmp_path: Path):
    suite = planted(tmp_path, {"a": 90}, {"a": 4}, constraint={"rounds": None})
    suite.score("one", [1.0, 0.0, 1.0, 1.0])

    assert of(estimate(suite.registry, suite.manifest)).needed_k is None


def test_a_benchmark_whose_prompts_all_have_scores_is_known(tmp_path: Path):
    """However few they are: nothing is estimated."""
    suite = planted(tmp_path, {"a": 90, "b": 4}, {"a": 20, "b": 4})
    suite.score("one", [0.5] * 20 + [1.0, 0.0, 0.0, 0.0])
    known = of(estimate(suite.registry, suite.manifest), "benchmark:b")

    assert (known.estimate, known.low, known.high, known.kind) == (0.25, 0.25, 0.25, "exact")


def test_where_intervals_come_from(tmp_path: Path):
    """A random draw; the audit slice, where it has ten effective picks; else none but a model."""
    sizes, picks = {"a": 90, "b": 90}, {"a": 20, "b": 20}
    kinds = {}
    for name, options in {
        "random": {"method": "random"},
        "included": {"method": "random", "include": ["some"]},
        "fixed": {},
        "audited": {"audit": 6},
        "hardly audited": {"audit": 4},
        "audited beside others": {"audit": 6, "exclude": ["some"]},
        "random and audited": {"audit": 6, "method": "random"},
    }.items():
        suite = planted(tmp_path / name, sizes, picks, **options)
        suite.score("one", [1.0, 0.0] * 20)
        found = estimate(suite.registry, suite.manifest)
        kinds[name] = (of(found).kind, of(found, "benchmark:a").kind)

    assert kinds == {
        "random": ("design", "design"),
        "included": ("model", "model"),
        "fixed": ("model", "model"),
        "audited": ("audit", "model"),
        "hardly audited": ("model", "model"),
        "audited beside others": ("model", "model"),
        "random and audited": ("design", "design"),
    }


def test_an_audit_interval_comes_from_the_audit_alone(tmp_path: Path):
    """Core picks that mislead move the estimate, which the interval is widened to, and not its other end."""
    ends = {}
    for name, core in {"fair": 0.5, "misleading": 1.0}.items():
        suite = planted(tmp_path / name, {"a": 500}, {"a": 100}, audit=40)
        suite.score("one", [core] * 60 + [1.0, 0.0] * 20)
        ends[name] = of(estimate(suite.registry, suite.manifest))

    fair, misleading = ends["fair"], ends["misleading"]
    assert fair.estimate == pytest.approx(0.5) and misleading.estimate == pytest.approx(0.8)
    assert fair.low == pytest.approx(misleading.low) and fair.high < 0.7 < misleading.high == misleading.estimate


@pytest.mark.parametrize("scores", [[1.0] * 20, [0.0] * 20, [0.5] * 20])
def test_equal_scores_leave_doubt(tmp_path: Path, scores: list[float]):
    """Twenty right answers do not prove that all are right."""
    suite = planted(tmp_path, {"a": 900, "b": 900}, {"a": 10, "b": 10})
    suite.score("one", scores)
    found = of(estimate(suite.registry, suite.manifest))

    assert found.estimate == scores[0]
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert found.high - found.low > 0.05


def test_one_pick_of_each_benchmark_is_enough_for_the_suite(tmp_path: Path):
    """Benchmarks themselves are not estimable then."""
    names = [f"b{number:02d}" for number in range(20)]
    suite = planted(tmp_path, dict.fromkeys(names, 50), dict.fromkeys(names, 1))
    suite.score("one", [1.0, 0.0] * 10)
    found = estimate(suite.registry, suite.manifest)

    assert 0 < of(found).low < 0.5 < of(found).high < 1
    assert of(found, "benchmark:b00").needed_k == 200


def test_without_scores_there_is_nothing(tmp_path: Path):
    """A model that has none on the picks is not there; who asks for it is told."""
    suite = planted(tmp_path, {"a": 90}, {"a": 20})
    empty = estimate(suite.registry, suite.manifest)
    assert (empty.models, empty.targets, empty.notes) == ((), (), ("no model has scores on the picks",))

    suite.score("one", {80: 1.0})
    with pytest.raises(UsageError, match="no scores of one"):
        estimate(suite.registry, suite.manifest, models=["one"])


@pytest.fixture
def leaning(tmp_path: Path) -> Planted:
    """Three models known everywhere, and one on the picks, which is right where most of them are."""
    suite = planted(tmp_path, {"a": 150, "b": 150}, {"a": 30, "b": 30}, method="random")
    generator = np.random.default_rng(3)
    easy = generator.uniform(size=300)
    for model in ("p1", "p2", "p3"):
        suite.score(model, dict(enumerate((generator.uniform(size=300) < easy).astype(float).tolist())))
    suite.score("one", (easy[suite.picks] > 0.5).astype(float).tolist())
    return suite


def test_a_panel_is_known_and_narrows_intervals(leaning: Planted):
    """Its models are not estimated, and the estimate leans on what they find hard."""
    plain = estimate(leaning.registry, leaning.manifest, models=["one"])
    found = estimate(leaning.registry, leaning.manifest, pool=leaning.pool)

    assert found.models == ("one",) and found.panel == ("p1", "p2", "p3")
    assert (of(found).estimator, of(found).kind) == ("aipw", "design")
    assert of(found).high - of(found).low < 0.9 * (of(plain).high - of(plain).low)
    known = of(found, model="p1")
    assert (known.kind, known.low, known.prompts) == ("exact", known.estimate, 300)


def test_a_panel_needs_scores_on_nearly_all_of_the_pool(leaning: Planted):
    """Whether it is named or looked for; and the pool must be the coreset's."""
    with pytest.raises(UsageError, match=r"one 20\.0 %"):
        estimate(leaning.registry, leaning.manifest, pool=leaning.pool, panel=["one"])
    shorter = type(leaning.pool)(*(column[:-1] for column in (
        leaning.pool.prompt_id, leaning.pool.content_hash, leaning.pool.benchmark,
    )))  # fmt: skip
    with pytest.raises(BenchcoreError, match="cannot be rebuilt"):
        estimate(leaning.registry, leaning.manifest, pool=shorter)


def test_without_any_panel_it_is_refused(tmp_path: Path):
    suite = planted(tmp_path, {"a": 90}, {"a": 20})
    suite.score("one", [1.0, 0.0] * 10)

    with pytest.raises(
        BenchcoreError, match=r"no model has scores on 95 % of the 90 prompts of the pool \(the most: one"
    ):
        estimate(suite.registry, suite.manifest, pool=suite.pool)
