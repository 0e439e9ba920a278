"""From the table of scores to one score for each prompt and model: nothing is chosen or left out silently."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.scoring.matrix import ScoreMatrix, Wanted, read_matrix
from benchcore.scoring.metrics import MetricCount, chosen
from tests.registry.stored import store
from tests.scoring.planted import Planted, planted


@pytest.fixture
def suite(tmp_path: Path) -> Planted:
    """Two benchmarks of five prompts, two picks in each."""
    return planted(tmp_path / "registry", {"a": 5, "b": 5}, {"a": 2, "b": 2})


def matrix(suite: Planted, **options) -> ScoreMatrix:
    pool, picks = suite.pool, suite.picks.tolist()
    columns = (pool.prompt_id, pool.content_hash, pool.benchmark)
    return read_matrix(
        suite.registry, Wanted(*(tuple(column[pick] for pick in picks) for column in columns)), **options
    )


def test_scores_stand_at_their_prompts(suite: Planted):
    """Whatever the order of the table; other prompts' scores are not there."""
    suite.score("two", [0.1, 0.2, 0.3, 0.4])
    suite.score("one", {5: 1.0, 4: 0.0, 0: 0.5})

    found = matrix(suite)
    assert found.models == ("one", "two")
    assert np.array_equal(found.scores, [[0.5, 0.1], [np.nan, 0.2], [1.0, 0.3], [np.nan, 0.4]], equal_nan=True)
    assert found.notes == ()


def test_scores_of_an_exact_copy_count(suite: Planted):
    """The copy that stands for its equals can be another one when scores come in than when a coreset is picked."""
    picked = suite.prompts[suite.picks[0]]
    store(suite.registry, "prompts", [dict(picked) | {"prompt_id": "0copy"}])
    store(suite.registry, "scores", [suite.row("one", suite.picks[0], 1.0, prompt_id="0copy")])

    assert np.array_equal(matrix(suite).scores[:, 0], [1.0, np.nan, np.nan, np.nan], equal_nan=True)


def test_scores_of_another_version_of_a_prompt_are_counted_and_left_out(suite: Planted):
    """The prompt was edited since, or before."""
    suite.score("one", [1.0, 1.0, 1.0, 1.0])
    suite.score("one", [0.0, 0.0, 0.0, 0.0], content_hash="older", run="2027")

    found = matrix(suite)
    assert np.array_equal(found.scores[:, 0], np.ones(4))
    assert found.other_version == 4
    assert "4 scores were measured on another version of their prompt" in found.notes


def test_a_model_whose_scores_are_all_of_another_version_is_not_there(suite: Planted):
    """Who asks for it is told why."""
    suite.score("one", [1.0, 1.0, 1.0, 1.0], content_hash="older")

    assert matrix(suite).models == ()
    with pytest.raises(UsageError, match=r"no scores of one .* \(4 are of another version of their prompt\)"):
        matrix(suite, models=["one"])


def test_scores_outside_of_their_scale_are_refused(suite: Planted):
    """Whatever wrote them."""
    suite.score("one", [1.0, 7.5, 0.0, 1.0])

    with pytest.raises(BenchcoreError, match=r"1 scores lie outside of \[0, 1\], such as 7\.5 of one by acc"):
        matrix(suite)


def test_epochs_are_averaged(suite: Planted):
    """Over the epochs that have a score."""
    suite.score("one", [1.0, 1.0, 0.0, 0.0])
    suite.score("one", {0: 0.0, 1: 0.5, 5: None}, epoch=2)

    assert np.allclose(matrix(suite).scores[:, 0], [0.5, 0.75, 0.0, 0.0])


def test_the_newest_run_of_each_prompt_counts(suite: Planted):
    """So that a run of further prompts does not hide the older one of all others; said, and one can be named."""
    suite.score("one", [1.0, 1.0, 1.0, 1.0], run="2026-01-01")
    suite.score("one", {0: 0.0, 5: None}, run="2026-02-01")

    found = matrix(suite)
    assert np.array_equal(found.scores[:, 0], [0, 1, 1, 1])
    assert found.runs == {"one": {"2026-01-01": 3, "2026-02-01": 1}}
    assert any("scores of 2 runs" in note for note in found.notes)
    assert np.array_equal(matrix(suite, run="2026-01-01").scores[:, 0], np.ones(4))


def test_runs_are_ordered_by_their_time_then_by_name(suite: Planted):
    """Whatever they are called; one without a time is the oldest. Which one counts is said."""
    old, new = (datetime(2026, 11, day, 2, 51, tzinfo=UTC) for day in (29, 30))
    suite.score("one", [0.0, 0.0, 0.0, 0.0], run="zz", measured_at=old)
    suite.score("one", [1.0, 1.0, 1.0, 1.0], run="F4Le", measured_at=new)
    suite.score("one", [0.5, 0.5, 0.5, 0.5], run="zzz")
    suite.score("two", [0.0, 0.0, 0.0, 0.0], run="a", measured_at=old)
    suite.score("two", {0: 1.0}, run="b", measured_at=old)

    found = matrix(suite)
    assert np.array_equal(found.scores, [[1, 1], [1, 0], [1, 0], [1, 0]])
    assert found.notes == (
        "one: 3 runs; F4Le of 2026-11-30 02:51 counts (--run NAME)",
        "two: scores of 2 runs, the newest of each prompt: 1 prompt from b of 2026-11-29 02:51, 3 prompts from a of"
        " 2026-11-29 02:51 (--run NAME)",
    )
    assert matrix(suite, run="zz").notes == ()


def test_a_run_is_as_new_as_its_newest_score(suite: Planted):
    """One that was resumed after another was made counts as a whole."""
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2, 3)]
    suite.score("one", {0: 1.0, 1: 1.0}, run="resumed", measured_at=days[0])
    suite.score("one", [0.0, 0.0, 0.0, 0.0], run="between", measured_at=days[1])
    suite.score("one", {5: 1.0}, run="resumed", measured_at=days[2])

    assert np.array_equal(matrix(suite).scores[:, 0], [1, 1, 1, 0])


def test_one_metric_counts_and_the_choice_is_said(suite: Planted):
    """Of equally frequent ones the first in the documented order; one can be declared, for all or a benchmark."""
    for metric, value in (("f1", 0.1), ("exact_match,strict-match", 0.2), ("zeal", 0.3)):
        suite.score("one", dict.fromkeys(suite.picks.tolist(), value), metric=metric)

    found = matrix(suite)
    assert found.metrics == {"a": "exact_match,strict-match", "b": "exact_match,strict-match"}
    assert found.notes == (
        "a, b: scored by exact_match,strict-match, f1, zeal; exact_match,strict-match counts (--metric chooses)",
    )
    assert np.allclose(0.1, matrix(suite, metric=["f1"]).scores)
    assert np.allclose([0.3, 0.3, 0.1, 0.1], matrix(suite, metric=["a=zeal", "f1"]).scores[:, 0])


def test_a_metric_that_more_models_have_comes_first():
    """Else whoever has the other one could not be estimated."""
    counts = [MetricCount("a", "exact_match", 1, 10), MetricCount("a", "zeal", 2, 10)]

    assert chosen(counts, {})[0] == {"a": "zeal"}


def test_a_model_without_the_metric_that_counts_is_said(suite: Planted):
    """It is there, without scores."""
    for model in ("one", "two"):
        suite.score(model, [1.0, 1.0, 1.0, 1.0])
    suite.score("three", [1.0, 1.0, 1.0, 1.0], metric="f1")

    found = matrix(suite)
    assert found.models == ("one", "three", "two")
    assert np.isnan(found.scores[:, 1]).all()
    assert np.array_equal(found.uncounted, np.broadcast_to([False, True, False], (4, 3)))
    assert "three: scores of another metric only (f1) on 4 prompts of a, b (--metric)" in found.notes


def test_the_metric_that_the_asked_models_have_in_common_counts(suite: Planted):
    """Whatever others have: by more models, then on more prompts of all of them; else by the documented order."""
    for model in ("one", "two"):
        suite.score(model, [1.0, 1.0, 1.0, 1.0], metric="zeal")
        suite.score(f"other {model}", [1.0, 1.0, 1.0, 1.0], metric="acc")
    suite.score("one", [1.0, 1.0, 1.0, 1.0], metric="acc")
    suite.score("other three", [1.0, 1.0, 1.0, 1.0], metric="acc")

    assert set(matrix(suite).metrics.values()) == {"acc"}
    asked = matrix(suite, models=["one", "two"])
    assert set(asked.metrics.values()) == {"zeal"} and not asked.uncounted.any()
    counts = [MetricCount("a", "acc", 2, 50, shared=4), MetricCount("a", "zeal", 2, 40, shared=20)]
    assert chosen(counts, {})[0] == {"a": "zeal"}
    assert chosen([counts[0], MetricCount("a", "zeal", 2, 40, shared=8)], {})[0] == {"a": "acc"}


def test_of_an_unknown_model_the_nearest_and_some_known_ones_are_named(suite: Planted):
    for number in range(7):
        suite.score(f"org/m{number}", [1.0, 1.0, 1.0, 1.0])

    told = r"--model: no scores of org/m77 .* Did you mean org/m6\? There are scores of org/m0, .*org/m4 and 2 more\."
    with pytest.raises(UsageError, match=told.replace("org/m6", "org/m.")):
        matrix(suite, models=["org/m77"], named_by="--model")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["two"]}, "no scores of two"),
        ({"run": "2026-01-02"}, "There are 2026-01-01"),
        ({"metric": ["ac"]}, "Did you mean acc"),
        ({"metric": ["aa=acc"]}, "Did you mean a"),
        ({"metric": ["a=acc", "a=f1"]}, "twice"),
        ({"metric": ["a=f1"]}, "no scores by the metric 'f1'"),
    ],
)
def test_what_there_is_not_is_refused(suite: Planted, options: dict, message: str):
    """With what there is."""
    suite.score("one", [1.0, 1.0, 1.0, 1.0])

    with pytest.raises(UsageError, match=message):
        matrix(suite, **options)


def test_names_are_taken_as_they_are(suite: Planted):
    """Commas, quotes and wildcards mean nothing."""
    hostile = "a,b' OR 1=1 --/../*?[\n\x00"
    suite.score(hostile, [1.0, 0.0, 1.0, 0.0], metric="m=,;*")

    found = matrix(suite, models=[hostile], metric=["a=m=,;*"])
    assert found.models == (hostile,)
    assert np.array_equal(found.scores[:, 0], [1, 0, 1, 0])


def test_a_table_that_there_is_not_has_no_models(suite: Planted):
    """Nor has one without scores of the prompts."""
    assert matrix(suite).scores.shape == (4, 0)
    store(suite.registry, "scores", [suite.row("one", 4, 1.0)])
    assert matrix(suite).models == ()
