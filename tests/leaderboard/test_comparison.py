"""Splits, verdicts, expected errors and the comparison of methods."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from scipy.stats import kendalltau

from benchcore.errors import UsageError
from benchcore.leaderboard.compare import Plan, Row, compare, standings
from benchcore.leaderboard.comparison_files import write_comparison
from benchcore.leaderboard.judging import judge, kendall_tau
from benchcore.leaderboard.protocol import expected_errors
from benchcore.leaderboard.rules import rules_for
from benchcore.leaderboard.splits import SPLITS, Splitter
from benchcore.leaderboard.transfer import read_transfer
from tests.leaderboard.planted import planted

SMALL = Plan(
    ks=(2, 3), splits=("random", "strongest"), repeats=3, methods=("task_shrunk_swaps", "task_forward_ols"),
    estimators=("shrunk_blend",),
)  # fmt: skip


@pytest.mark.parametrize("kind", SPLITS)
def test_no_model_is_both_learnt_from_and_predicted(kind: str):
    """And the draw depends on its number alone."""
    matrix = planted(models=50)
    for number in range(5):
        split = Splitter(matrix, kind, 7).draw(number)

        assert not np.intersect1d(split.held, split.source).size
        assert 0.25 * 50 <= len(split.held) <= 0.5 * 50
        again = Splitter(matrix, kind, 7).draw(number)
        assert split.held.tolist() == again.held.tolist()
        assert split.source.tolist() == again.source.tolist()
    assert len({tuple(Splitter(matrix, kind, 7).draw(number).source.tolist()) for number in range(5)}) > 1


def test_families_and_the_strongest_are_held_out_whole():
    """No family on both sides; no source model stronger than one that is held out."""
    matrix = planted(models=48)
    families = np.array(matrix.families)
    mean = matrix.scores.mean(axis=1)

    by_family, strongest = (Splitter(matrix, kind).draw(0) for kind in ("family", "strongest"))

    assert not set(families[by_family.held]) & set(families[by_family.source])
    assert mean[strongest.source].max() <= mean[strongest.held].min()


def test_a_family_that_is_most_of_the_leaderboard_is_never_held_out():
    """The others are."""
    matrix = planted(models=20)
    lopsided = replace(matrix, families=("big",) * 17 + ("small",) * 3)

    assert Splitter(lopsided, "family").draw(0).held.tolist() == [17, 18, 19]


def test_splits_that_cannot_be_are_refused():
    """Too few models, one family, an unknown kind."""
    with pytest.raises(UsageError, match="too few"):
        Splitter(planted(models=4), "random")
    with pytest.raises(UsageError, match="all models are of the family"):
        Splitter(replace(planted(), families=("one",) * 60), "family")
    with pytest.raises(UsageError, match="Did you mean 'strongest'"):
        Splitter(planted(), "stronges")


def test_a_verdict_is_about_what_is_known():
    """Missing cells count neither as right nor as wrong, and a model without a prediction does not count."""
    truth = np.array([[0.2, 0.4, np.nan], [0.6, 0.8, 0.7], [0.5, 0.5, 0.5]])
    predicted = np.array([[0.3, 0.4, 0.9], [0.6, 0.8, 0.4], [np.nan, np.nan, np.nan]])

    found = judge(predicted, truth)

    assert np.isclose(100 * (0.05 + 0.1) / 2, found.mae)
    assert np.allclose([5, 0, 30], found.tasks)
    assert found.kendall_tau == 1
    assert found.top1_regret == 0


def test_models_with_scores_on_other_tasks_are_ranked_by_how_far_above_the_tasks_they_are():
    """A weak model that has only easy tasks is not above a strong one that has only hard ones."""
    random = np.random.default_rng(0)
    strength, ease = np.linspace(-0.2, 0.2, 20), np.repeat([0.3, 0.7], 10)
    truth = strength[:, None] + ease
    gaps = random.random(truth.shape) < 0.5
    gaps[strength > 0, 15:], gaps[strength <= 0, :5] = True, True
    scores = np.where(gaps, np.nan, truth)

    found = judge(truth[::-1] - 0.01, scores, ease)

    assert np.isclose(-1, found.kendall_tau)
    assert np.isclose(1, judge(truth - 0.01, scores, ease).kendall_tau)
    assert np.isclose(100 * (strength[-1] - strength[0]), found.top1_regret)


@pytest.mark.parametrize("k", [2, 4])
def test_expected_errors_are_those_of_models_that_have_the_picks(k: int):
    """With a third of the cells missing nearly what they are without; who was judged is told."""
    whole, holed = planted(models=240), planted(models=240, missing=0.3)

    before, after = (expected_errors(each, [k], rules_for(each), repeats=10)[0] for each in (whole, holed))

    assert (before.judged, before.scored) == (120, k)
    assert 10 <= after.judged < 60
    assert after.scored == k
    assert after.mae < 1.6 * before.mae


def test_expected_errors_say_where_no_model_has_the_picks():
    """The most complete ones are judged."""
    matrix = planted(models=60, missing=0.75)

    found = expected_errors(matrix, [8], rules_for(matrix), repeats=3)

    assert all(10 <= each.judged <= 30 for each in found)
    assert all(2 < each.scored < 8 for each in found)


def test_all_methods_are_judged_on_the_same_models():
    """A model without any pick is taken to be average: if it dropped out, the ratio would compare different models."""
    matrix = planted(missing=0.6)
    rows = compare([matrix], replace(SMALL, ks=(1, 2), splits=("random",), repeats=2))
    only = {row.method: row for row in rows if (row.k, row.estimator) == (1, "shrunk_blend")}

    assert all(0.2 < row.scored < 0.7 for row in only.values())
    constant = replace(matrix, scores=np.where(np.isnan(matrix.scores), np.nan, np.arange(60)[:, None] / 100))
    unknown = compare([constant], replace(SMALL, ks=(1,), splits=("random",), repeats=2))
    assert min(row.mae for row in unknown) > 3  # what those err by who have none of the picks


def test_bands_are_of_single_draws_and_of_models():
    """Of random picks not of the mean of their draws; with the strongest held out, not of the same few models."""
    matrix = planted(noise=0.05)
    rows = compare([matrix], replace(SMALL, splits=("random", "strongest"), repeats=12, ks=(3,)))
    bands = {(row.split, row.method): row for row in rows if row.estimator == "ridge"}
    band = bands["random", "random"]

    assert all(row.mae_low < row.mae < row.mae_high for row in bands.values())
    assert band.mae_high - band.mae_low > 0.4 * band.mae
    everyone = compare([matrix], replace(SMALL, splits=("strongest",), repeats=1, ks=(3,)))
    assert all(row.mae_low != row.mae for row in everyone)


def test_the_rank_correlation_is_tau_b():
    """With ties, as scipy computes it."""
    random = np.random.default_rng(0)
    one, other = random.integers(0, 5, 30).astype(float), random.integers(0, 5, 30).astype(float)

    assert np.isclose(kendalltau(one, other).statistic, kendall_tau(one, other))
    assert np.isnan(kendall_tau(one, np.ones(30)))


def test_regret_is_what_the_pick_of_the_best_model_costs():
    """In points."""
    truth = np.array([[0.5, 0.5], [0.7, 0.7], [0.6, 0.6]])

    assert np.isclose(10, judge(truth + np.array([[0], [0], [0.3]]), truth).top1_regret)


def test_expected_errors_fall_with_more_tasks_and_are_those_of_unseen_models():
    """On planted clusters, four tasks are enough; with one, the error is that of three clusters unknown."""
    matrix = planted(models=80)

    found = expected_errors(matrix, [1, 4, 8], rules_for(matrix), repeats=5)

    assert [(each.split, each.k) for each in found] == [(s, k) for s in ("random", "strongest") for k in (1, 4, 8)]
    for split in ("random", "strongest"):
        one, four, eight = (each.mae for each in found if each.split == split)
        assert one > 3 * four > 3 * eight
    assert all(each.low <= each.mae <= each.high for each in found)


def test_rows_say_what_was_compared():
    """A row for each cell; the control's ratio is one; the default is marked; the same seed gives the same rows."""
    rows = compare([planted()], SMALL)

    pairs = {(row.method, row.estimator) for row in rows}
    methods, estimators = ("random", "task_shrunk_swaps", "task_forward_ols"), ("ridge", "shrunk_blend")
    assert pairs == {(method, estimator) for method in methods for estimator in estimators}
    assert len(rows) == 6 * 2 * 2
    assert all(row.ratio == 1 for row in rows if (row.method, row.estimator) == ("random", "ridge"))
    assert {(row.method, row.estimator) for row in rows if row.is_default} == {("task_shrunk_swaps", "shrunk_blend")}
    control = {(row.split, row.k): row.mae for row in rows if (row.method, row.estimator) == ("random", "ridge")}
    assert all(np.isclose(row.mae / control[row.split, row.k], row.ratio) for row in rows)

    def timeless(rows: list[Row]) -> list[Row]:
        return [replace(row, seconds=0.0) for row in rows]

    assert timeless(rows) == timeless(compare([planted()], SMALL))


def test_others_in_a_comparison_change_nothing():
    """A method's errors are the same whoever else takes part."""
    alone = compare([planted()], replace(SMALL, methods=("task_shrunk_swaps",)))
    together = {(row.method, row.estimator, row.split, row.k): row.mae for row in compare([planted()], SMALL)}

    assert all(together[row.method, row.estimator, row.split, row.k] == row.mae for row in alone)


def test_every_method_and_estimator_takes_part_by_default():
    """But for those that need what is not there; with missing cells, too."""
    plan = Plan(ks=(3,), splits=("random",), repeats=1)
    transfer = {"planted": np.random.default_rng(0).random((16, 16))}

    without, having = compare([planted(missing=0.2)], plan), compare([planted()], plan, transfer=transfer)

    assert len(having) - len(without) == 8  # task_bento with each estimator
    assert all(np.isfinite(row.mae) for row in (*without, *having))


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (replace(SMALL, ks=(16,)), "cannot predict from 16 of 16 tasks"),
        (replace(SMALL, methods=("task_swap",)), "unknown method 'task_swap'"),
        (replace(SMALL, methods=("task_bento",)), "needs in-context transfer"),
        (replace(SMALL, estimators=("rigde",)), "Did you mean 'ridge'"),
    ],
)
def test_what_cannot_be_compared_is_said(plan: Plan, said: str):
    """In a line."""
    with pytest.raises(UsageError, match=said):
        compare([planted()], plan)


def test_the_index_is_the_geometric_mean_over_its_cells():
    """Of random splits and the strongest held out, at the numbers of tasks that count; the worst cell beside it."""
    row = compare([planted()], SMALL)[0]
    rows = [
        replace(row, method="m", estimator="e", split=split, k=k, ratio=ratio)
        for split, k, ratio in (("random", 3, 0.5), ("strongest", 8, 2.0), ("family", 3, 9.0), ("random", 4, 9.0))
    ]

    (found,) = standings(rows)

    assert np.isclose(1, found.index)
    assert (found.worst, found.cells) == (2.0, 2)


def test_files_hold_the_rows_and_the_figure_is_the_same_each_time(tmp_path: Path):
    """JSON, CSV and SVG."""
    pytest.importorskip("matplotlib")
    rows = compare([planted()], SMALL)

    written = [write_comparison(rows, tmp_path / name) for name in ("one", "two")]

    assert [asdict(row) for row in rows] == orjson.loads((tmp_path / "one" / "rows.json").read_bytes())
    assert {file.name for file in written[0]} >= {"rows.csv", "standings.json", "error_by_tasks.svg"}
    for one, other in zip(*written, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"task_forward_ols" in (tmp_path / "one" / "error_by_tasks.svg").read_bytes()


def test_transfer_is_read_in_the_leaderboards_order(tmp_path: Path):
    """Rows of a file are sources; what comes back has the task that is done first."""
    file = tmp_path / "transfer.csv"
    file.write_text("b,a\n1,2\n3,4\n")

    assert read_transfer([file, file], ["a", "b"]).tolist() == [[4, 2], [3, 1]]
    with pytest.raises(UsageError, match="lacks 1 tasks, the first is 'c'"):
        read_transfer([file], ["a", "c"])
