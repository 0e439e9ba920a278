"""The bench itself: what must win wins, what knows nothing is at 1, and the same question gets the same answer."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchcore.errors import UsageError
from benchcore.lab.compare import compare
from benchcore.lab.contestants import contestants
from benchcore.lab.features import TextEncoder
from benchcore.lab.protocol import Protocol, trial_of
from benchcore.lab.rows import Findings, Row
from benchcore.lab.suites import load_suite
from benchcore.methods import METHODS
from benchcore.methods.entry import Entry
from benchcore.methods.problem import Problem, Selection
from tests.lab.planted import PLANTED, clustered, field, write_suite

QUICK = Protocol(ks=(20, 40), repeats=6, draws=4, control_draws=40, panel=(2,))


def row_of(found: Findings, method: str, estimator: str = "macro", k: int = 40) -> Row:
    [row] = [row for row in found.rows if (row.method, row.estimator, row.k) == (method, estimator, k)]
    return row


class Counted:
    """The planted method, and how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, problem: Problem) -> Selection:
        self.calls += 1
        return PLANTED["planted"].method(problem)


def untimed(found: Findings) -> list[dict]:
    return [asdict(replace(row, seconds=0.0)) for row in found.rows]


def test_a_method_that_sees_what_settles_the_scores_wins(tmp_path: Path):
    """On planted clusters, stratifying by them leaves little error; the interval and the corrected p-value say so."""
    found = compare([str(clustered(tmp_path / "a"))], QUICK, blocks=(), field=field(**PLANTED))

    planted, control = row_of(found, "planted"), row_of(found, "random")
    assert planted.ratio < planted.ratio_high < 0.8
    assert planted.p_corrected < 0.05
    assert planted.mae < control.mae and planted.difference < 0
    assert (control.ratio, control.difference) == (1.0, 0.0)
    assert control.cost == pytest.approx(1.0, abs=0.01)
    assert (planted.is_default, planted.score_free, planted.n_models) == (True, True, 12)


@pytest.mark.parametrize("ablation", ["shuffled", "permuted-scores"])
def test_without_what_it_knows_it_falls_to_the_control(tmp_path: Path, ablation: str):
    """Shuffled features and permuted scores are the two nulls: a bench that leaked would still show a win."""
    nulled = replace(QUICK, ks=(40,), ablation=ablation, repeats=20, draws=10)
    entry = Entry(PLANTED["planted"].method, ("embedding",), drawn=True, balances=False)

    found = compare([str(clustered(tmp_path / "a"))], nulled, blocks=(), field=field(planted=entry))

    assert row_of(found, "planted").ratio == pytest.approx(1.0, abs=0.12)


def test_the_true_subset_has_no_error_and_perfect_ranks(tmp_path: Path):
    """Where the budget is the whole sub-pool, nothing is left to estimate."""
    generator = np.random.default_rng(1)
    folder = write_suite(tmp_path / "a", generator.uniform(size=(60, 6)), ["x"] * 30 + ["y"] * 30)
    exact = replace(QUICK, ks=(60,), least=1.0, most=1.0)

    found = compare([str(folder)], exact, blocks=(), field=field(), methods=["random"])

    row = row_of(found, "random", k=60)
    assert row.mae == pytest.approx(0, abs=1e-12)
    assert (row.kendall_tau, row.top1_regret) == (pytest.approx(1.0), 0.0)


def test_errors_are_those_of_a_direct_computation(tmp_path: Path):
    """One deterministic method, by hand: the first k prompts, plain mean."""

    def first(problem: Problem) -> Selection:
        return Selection(np.arange(problem.k), np.zeros(problem.k), 0.0, None, np.full(problem.k, "core"))

    folder = clustered(tmp_path / "a")
    entry = Entry(first, nested=True, balances=False)
    found = compare([str(folder)], QUICK, blocks=(), field=field(first=entry), estimators=["plain"])

    suite = load_suite(str(folder))
    errors = []
    for repeat in range(QUICK.repeats):
        trial = trial_of(suite, {}, QUICK, repeat)
        pool = suite.scores[trial.rows]
        names = suite.groups[trial.rows]
        truth = np.mean([pool[names == name].mean(axis=0) for name in suite.benchmarks], axis=0)
        errors.append(pool[:40].mean(axis=0) - truth)
    row = row_of(found, "first", "plain")
    assert row.mae == pytest.approx(100 * np.abs(errors).mean())
    assert row.bias == pytest.approx(100 * np.mean(errors))
    assert row.rmse == pytest.approx(100 * np.sqrt(np.mean(np.square(errors))))
    assert row.worst_model == pytest.approx(100 * np.abs(errors).mean(axis=0).max())


def test_luck_is_told_from_skill(tmp_path: Path):
    """Kept picks on permuted scores spread around 1: a fixed choice that knows nothing lies among them, skill below."""

    def first(problem: Problem) -> Selection:
        return Selection(np.arange(problem.k), np.zeros(problem.k), 0.0, None, np.full(problem.k, "core"))

    methods = field(**PLANTED, first=Entry(first, nested=True, balances=False))
    found = compare([str(clustered(tmp_path / "a"))], QUICK, blocks=(), field=methods)

    planted, blind = row_of(found, "planted"), row_of(found, "first")
    assert planted.luck_p is not None and planted.luck_p < 0.05
    assert blind.luck_p is not None and blind.luck_p > 0.05
    assert blind.luck_low < 1 < blind.luck_high
    assert row_of(found, "random").luck_p is None


def test_intervals_of_picks_that_recur_hold_a_ratio_of_one(tmp_path: Path):
    """A fixed random order picks much the same from every sub-pool: twelve times the same luck."""
    generator = np.random.default_rng(3)
    scores = (generator.uniform(size=(200, 1)) + 0.7 * generator.normal(size=(200, 8)) > 0.5).astype(np.float64)
    folder = write_suite(tmp_path / "a", scores, vectors=np.eye(200)[:, :5] + 1.0)

    def in_order(number: int) -> Entry:
        def method(problem: Problem) -> Selection:
            place = np.random.default_rng(number).permutation(200)[np.array([int(name[1:]) for name in problem.ids])]
            indices = np.argsort(place)[: problem.k]
            return Selection(indices, np.zeros(problem.k), 0.0, None, np.full(problem.k, "core"))

        return Entry(method, balances=False)

    names = [f"order{number}" for number in range(40)]
    protocol = replace(QUICK, ks=(40,), repeats=12)
    found = compare([str(folder)], protocol, field=field(**{name: in_order(int(name[5:])) for name in names}))

    holding = [row_of(found, name).ratio_low <= 1 <= row_of(found, name).ratio_high for name in names]
    assert np.mean(holding) >= 0.85


@pytest.mark.parametrize("split", ["random", "family", "strongest"])
def test_models_that_are_scored_are_never_looked_at(tmp_path: Path, split: str):
    """Source models and scored models are apart, together all, and the control is judged on the same models."""
    seen: list[np.ndarray] = []

    def spy(problem: Problem) -> Selection:
        seen.append(problem.features["scores"])
        return Selection(np.arange(problem.k), np.zeros(problem.k), 0.0, None, np.full(problem.k, "core"))

    folder = clustered(tmp_path / "a", names=[f"{family}-{size}" for family in "abcd" for size in (7, 13, 70)])
    protocol = replace(QUICK, split=split)
    found = compare([str(folder)], protocol, blocks=(), field=field(spy=Entry(spy, ("scores",), nested=True)))

    suite = load_suite(str(folder))
    for repeat in range(protocol.repeats):
        trial = trial_of(suite, {}, protocol, repeat)
        assert sorted([*trial.split.held, *trial.split.source]) == list(range(12))
        assert np.array_equal(seen[repeat], suite.scores[np.ix_(trial.rows, trial.split.source)])
    row = row_of(found, "spy")
    assert not row.score_free and row.n_models == len(trial.split.held)
    assert not row_of(found, "random", "panel_difference@2").score_free


def test_strongest_models_are_held_out(tmp_path: Path):
    suite = load_suite(str(clustered(tmp_path / "a")))
    split = trial_of(suite, {}, replace(QUICK, split="strongest"), 0).split

    strength = suite.scores.mean(axis=0)
    assert len(split.held) == 4
    assert strength[split.held].mean() > strength[split.source].mean()


def test_an_interrupted_comparison_goes_on_and_ends_the_same(tmp_path: Path):
    """What is kept is used (the method is not asked again) and gives the same rows."""
    counted = Counted()
    folder, out = clustered(tmp_path / "a"), tmp_path / "out"
    taking_part = field(counted=Entry(counted, ("embedding",)))
    first = compare([str(folder)], QUICK, blocks=(), field=taking_part, out=out)
    calls = counted.calls
    again = compare([str(folder)], QUICK, blocks=(), field=taking_part, out=out)
    more = compare([str(folder)], replace(QUICK, repeats=7), blocks=(), field=taking_part, out=out)

    assert untimed(first) == untimed(again)
    assert counted.calls == calls + 2  # two budgets on one more sub-pool
    assert row_of(more, "counted").pools == 7


def alone_and(folder: Path, **elsewhere: Any) -> tuple[list[dict], list[dict]]:
    """Rows as this process finds them, and as others do."""
    quick = replace(QUICK, repeats=1, ks=(10,), control_draws=5)
    arguments: dict[str, Any] = {"methods": ["random:unbalanced"], "estimators": ["plain"], "blocks": ()}
    spec = str(clustered(folder, n=80, clusters=4))
    return untimed(compare([spec], quick, **arguments)), untimed(compare([spec], quick, **arguments, **elsewhere))


def test_other_processes_give_the_same_rows(tmp_path: Path):
    alone, together = alone_and(tmp_path / "a", workers=2)

    assert alone == together


def test_ray_gives_the_same_rows(tmp_path: Path, ray_instance: None):
    alone, together = alone_and(tmp_path / "a", ray=True)

    assert alone == together


def test_a_method_with_a_panel_sees_that_panel_alone(tmp_path: Path):
    """Those models that an estimator with a panel of this size sees too; a panel of most models is left out."""
    seen = []

    def watching(problem: Problem) -> Selection:
        seen.append(problem.features["scores"])
        return PLANTED["planted"].method(problem)

    folder, quick = str(clustered(tmp_path / "a")), replace(QUICK, ks=(20,), repeats=1, control_draws=5)
    taking_part = field(watching=Entry(watching, ("embedding", "scores"), balances=False))
    names = ["watching@2", "watching@3:unbalanced", "watching", "watching@7"]
    found = compare([folder], quick, blocks=(), field=taking_part, methods=names, estimators=[])

    source = trial_of(load_suite(folder), {}, quick, 0).source
    assert [scores.tolist() for scores in seen] == [source[:, :size].tolist() for size in (2, 3, 6)]
    assert {row.method for row in found.rows} == {"random", *names[:3]}
    assert row_of(found, "watching@2", k=20).n_models == 6


@pytest.mark.parametrize("name", ["random@3", "panel_swaps@0", "panel_swaps@", "panel_swaps@few"])
def test_a_panel_where_none_is_looked_at_or_of_no_size_is_refused(name: str):
    with pytest.raises(UsageError, match="is no method that looks at a panel"):
        contestants([name], METHODS)


def test_a_method_that_fails_is_told_and_the_others_are_measured(tmp_path: Path):
    def broken(problem: Problem) -> Selection:
        raise ZeroDivisionError("no luck")

    found = compare([str(clustered(tmp_path / "a"))], QUICK, blocks=(), field=field(**PLANTED, broken=Entry(broken)))

    assert {failure.why for failure in found.failures} == {"ZeroDivisionError: no luck"}
    assert row_of(found, "planted").ratio < 1


def test_summaries_are_means_over_budgets_and_suites(tmp_path: Path):
    folders = [str(clustered(tmp_path / name, seed=seed)) for seed, name in enumerate("ab")]
    found = compare(folders, QUICK, blocks=(), field=field(**PLANTED), estimators=[])

    [pooled] = [summary for summary in found.summaries if (summary.suite, summary.method) == ("all", "planted")]
    assert pooled.ratio == pytest.approx(np.mean([row.ratio for row in found.rows if row.method == "planted"]))
    assert pooled.ratio_low < pooled.ratio < pooled.ratio_high


@pytest.mark.parametrize(
    ("ks", "said"),
    [((1,), r"k = 1 is below the number of benchmarks of a \(2\)"), ((500,), "above the smallest sub-pool of a")],
)
def test_budgets_without_room_are_refused(tmp_path: Path, ks: tuple[int, ...], said: str):
    with pytest.raises(UsageError, match=said):
        compare([str(clustered(tmp_path / "a"))], replace(QUICK, ks=ks), blocks=(), field=field())


def test_usual_budgets_are_those_that_fit(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Not below the number of benchmarks either; where none fits, one error says what would."""
    generator = np.random.default_rng(0)
    usual = replace(QUICK, ks=(), repeats=1, control_draws=2)
    names = [f"b{number}" for number in range(90)]
    wide = write_suite(tmp_path / "wide", generator.uniform(size=(270, 4)), names * 3)
    small = write_suite(tmp_path / "small", generator.uniform(size=(60, 4)))

    found = compare([str(wide)], usual, blocks=(), field=field(), methods=["random"], estimators=[])

    assert {row.k for row in found.rows} == {100, 140}
    assert "only budgets from 90 (benchmarks) to 180 (smallest sub-pool) fit; 70, 200 left out" in caplog.text
    with pytest.raises(UsageError, match=r"small: none of the usual budgets .* Choose --k from 1 to 36"):
        compare([str(small)], usual, blocks=(), field=field(), methods=["random"], estimators=[])


@pytest.mark.parametrize(
    ("models", "split", "said"),
    [
        (["one"], "random", "a: the split 'random' leaves no model of 1 to look at. Score more models"),
        (["x-1", "x-2", "x-3"], "family", "a: the split 'family' leaves no model of 3 to score. Choose --split random"),
    ],
)
def test_models_that_cannot_be_split_are_refused_before_anything_runs(
    tmp_path: Path, models: list[str], split: str, said: str
):
    def encoder() -> TextEncoder:
        raise AssertionError("nothing is to be encoded")

    given = np.random.default_rng(0).uniform(size=(60, len(models)))
    folder, protocol = write_suite(tmp_path / "a", given, models=models), replace(QUICK, split=split)

    with pytest.raises(UsageError, match=said):
        compare([str(folder)], protocol, field=field(**PLANTED), encoder=encoder, cache=tmp_path / "cache")


def test_pairs_that_a_split_leaves_too_few_models_are_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """One family of nine and one of three: where the large one is held out, no panel of four is left."""
    names = [*(f"large-{number}" for number in range(9)), *(f"small-{number}" for number in range(3))]
    given = np.random.default_rng(0).uniform(size=(60, 12))
    folder = write_suite(tmp_path / "a", given, models=names)
    protocol = replace(QUICK, ks=(20,), split="family", panel=(4,), control_draws=4)

    found = compare([str(folder)], protocol, blocks=(), field=field(), methods=["random"], estimators=None)

    suite = load_suite(str(folder))
    few = sum(len(trial_of(suite, {}, protocol, repeat).split.source) < 4 for repeat in range(protocol.repeats))
    said = f"a: panel_difference@4 is left out on {few} of 6 sub-pools: the split leaves fewer than 4 models to look at"
    assert 0 < few < 6
    assert [record.getMessage() for record in caplog.records].count(said) == 1
    assert row_of(found, "random", "panel_difference@4", k=20).pools == 6 - few


def test_missing_scores_are_estimated_from_those_that_are_there(tmp_path: Path):
    """A missing block neither fails nor counts as zero."""
    generator = np.random.default_rng(0)
    given = np.full((120, 6), 0.75)
    given[generator.integers(0, 120, 200), generator.integers(0, 6, 200)] = np.nan
    folder = write_suite(tmp_path / "a", given, ["x"] * 60 + ["y"] * 60)

    found = compare([str(folder)], QUICK, blocks=(), field=field(), methods=["random"], estimators=["plain"])

    assert row_of(found, "random", "plain").mae == pytest.approx(0, abs=1e-9)


def test_real_scores_of_instruction_following(shared_data: Path, tmp_path: Path):
    """Two sub-pools of a real suite: the control's error is that of a random sample of its size."""
    folder = shared_data / "scores" / "ifeval"
    suite = load_suite(str(folder))
    quick = replace(QUICK, ks=(100,), repeats=2, draws=2, control_draws=100)

    found = compare([str(folder)], quick, methods=["random"], estimators=[], cache=tmp_path, blocks=())

    row = row_of(found, "random", k=100)
    expected = np.mean(np.sqrt(2 / np.pi * suite.scores.var(axis=0) * (1 / 100 - 1 / (0.7 * 541))))
    assert row.mae == pytest.approx(100 * expected, rel=0.1)
    assert row.n_models == 427


def test_a_panel_that_leaves_nothing_to_measure_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match=r"too few models \(12\) for panel_difference@9. Panels of at most 6 fit"):
        compare([str(clustered(tmp_path / "a"))], QUICK, estimators=["panel_difference@9"], blocks=(), field=field())
