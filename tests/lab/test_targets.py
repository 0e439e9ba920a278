"""Other targets than the macro score, and what equal numbers of tokens leave of the picks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchcore.lab.compare import compare
from benchcore.lab.contestants import Contestant
from benchcore.lab.picking import pick
from benchcore.lab.protocol import Protocol, Trial, trial_of
from benchcore.lab.rows import Findings, Row
from benchcore.lab.suites import load_suite
from benchcore.lab.tables import target_tables
from benchcore.lab.targets import benchmark_errors, micro_errors
from benchcore.lab.tokens import allowance
from benchcore.methods.entry import Entry
from benchcore.methods.problem import Problem, Selection
from tests.lab.planted import field, write_suite

QUICK = Protocol(ks=(12, 20), repeats=3, draws=4, control_draws=30, panel=(2,))


def row_of(found: Findings, method: str, estimator: str = "macro", k: int = 20) -> Row:
    [row] = [row for row in found.rows if (row.method, row.estimator, row.k) == (method, estimator, k)]
    return row


def selection(indices: np.ndarray) -> Selection:
    return Selection(indices.astype(np.int64), np.zeros(len(indices)), 0.0, None, np.full(len(indices), "core"))


def first(problem: Problem) -> Selection:
    return selection(np.arange(problem.k))


def longest_first(problem: Problem) -> Selection:
    """The problem's later rows are the longer ones, as the suite of these tests is written."""
    return selection(np.arange(problem.n)[::-1][: problem.k])


def lengthening(folder: Path) -> Path:
    """Two benchmarks, one prompt of the first for two of the second, mixed, and prompts ever longer."""

    def lengthen(prompts: list[dict]) -> None:
        for row, prompt in enumerate(prompts):
            prompt["prompt"] += "x" * (5 * row)

    scores = np.random.default_rng(0).uniform(size=(90, 6))
    return write_suite(folder, scores, ["a" if row % 3 == 0 else "b" for row in range(90)], edit=lengthen)


def trial(folder: Path, protocol: Protocol) -> Trial:
    return trial_of(load_suite(str(folder)), {}, protocol, 0)


def test_errors_of_other_targets_are_those_of_a_direct_computation(tmp_path: Path):
    """One method by hand: means over the prompts picked in each benchmark, benchmarks by their prompts or alone."""
    folder = lengthening(tmp_path / "a")
    entry = Entry(first, nested=True, balances=False)
    found = compare([str(folder)], QUICK, blocks=(), field=field(first=entry), estimators=["plain"])

    suite, micro, benchmark = load_suite(str(folder)), [], []
    for repeat in range(QUICK.repeats):
        rows = trial_of(suite, {}, QUICK, repeat).rows
        scores, groups = suite.scores[rows], suite.groups[rows]
        means = {name: scores[:20][groups[:20] == name].mean(axis=0) for name in "ab"}
        micro.append(sum(means[name] * (groups == name).mean() for name in "ab") - scores.mean(axis=0))
        benchmark.append([np.abs(means[name] - scores[groups == name].mean(axis=0)) for name in "ab"])
    row = row_of(found, "first")
    assert row.mae_micro == pytest.approx(100 * np.abs(micro).mean())
    assert row.mae_benchmark == pytest.approx(100 * np.mean(benchmark))
    control = row_of(found, "random")
    assert (control.ratio_micro, control.ratio_benchmark) == (pytest.approx(1.0), pytest.approx(1.0))
    assert control.mae_benchmark > control.mae_micro > 0
    assert row_of(found, "first", "plain").mae_micro is None


def test_a_benchmark_without_a_pick_is_taken_from_the_others():
    """Its error is that of the others' mean; over all prompts the others carry its weight."""
    estimate, truth = np.array([[0.5], [np.nan], [0.7]]), np.array([[0.4], [0.9], [0.7]])

    assert benchmark_errors(estimate, truth) == pytest.approx([(0.1 + 0.3 + 0.0) / 3])
    shares = np.array([0.25, 0.5, 0.25])
    assert micro_errors(estimate, truth, shares) == pytest.approx([0.6 - (0.1 + 0.45 + 0.175)])


def test_a_true_score_that_is_missing_does_not_count():
    estimate, truth = np.array([[0.5], [0.6]]), np.array([[0.4], [np.nan]])

    assert benchmark_errors(estimate, truth) == pytest.approx([0.1])


@pytest.mark.parametrize("nested", [True, False])
def test_longer_picks_are_fewer_where_tokens_are_equal(tmp_path: Path, nested: bool):
    """Picks are as many as fit into what the control's take: one more would not."""
    equal = replace(QUICK, equal="tokens")
    one = trial(lengthening(tmp_path / "a"), equal)
    picked = pick(one, Contestant("long", Entry(longest_first, nested=nested, balances=False)))

    lengths = one.relative_lengths
    for k, indices in zip(equal.ks, picked.indices[0], strict=True):
        limit = allowance(one, k)
        more = longest_first(one.problem(len(indices) + 1, 0, balanced=False, with_scores=False)).indices
        assert len(indices) < k
        assert lengths[indices].sum() <= limit < lengths[more].sum()


@pytest.mark.parametrize("nested", [True, False])
def test_shorter_picks_are_more_where_tokens_are_equal(tmp_path: Path, nested: bool):
    equal = replace(QUICK, equal="tokens")
    one = trial(lengthening(tmp_path / "a"), equal)
    picked = pick(one, Contestant("short", Entry(first, nested=nested, balances=False)))

    total = np.cumsum(one.relative_lengths)
    assert [len(indices) for indices in picked.indices[0]] == [
        int(np.searchsorted(total, allowance(one, k), "right")) for k in equal.ks
    ]
    assert len(picked.indices[0][0]) > equal.ks[0]


def test_what_the_control_takes_is_its_mean_over_many_draws(tmp_path: Path):
    one = trial(lengthening(tmp_path / "a"), replace(QUICK, control_draws=400))
    picked = pick(one, Contestant("random", field().methods["random"]))

    for place, k in enumerate(QUICK.ks):
        drawn = [one.relative_lengths[budgets[place]].sum() for budgets in picked.indices]
        error = np.std(drawn) / np.sqrt(len(drawn))
        assert np.mean(drawn) == pytest.approx(allowance(one, k), abs=4 * error)


def test_rows_say_how_many_picks_there_were(tmp_path: Path):
    """The control keeps k; a method of long prompts gets fewer, which cost the same."""
    folder, methods = lengthening(tmp_path / "a"), field(long=Entry(longest_first, nested=True, balances=False))
    equal = compare([str(folder)], replace(QUICK, equal="tokens"), blocks=(), field=methods, estimators=[])
    usual = compare([str(folder)], QUICK, blocks=(), field=methods, estimators=[])

    assert row_of(equal, "random").picks == row_of(usual, "long").picks == 20
    assert row_of(equal, "long").picks < 20
    assert row_of(equal, "long").picks * row_of(equal, "long").cost == pytest.approx(20, abs=2)


def test_tables_show_targets_and_intervals(tmp_path: Path):
    """A line a method; no interval where picks are not drawn."""
    methods = field(first=Entry(first, nested=True, balances=False))
    found = compare([str(lengthening(tmp_path / "a"))], QUICK, blocks=(), field=methods, estimators=[])

    [(_, columns, lines)] = target_tables(found)
    shown = {line[0]: dict(zip(columns, line, strict=True)) for line in lines}
    assert shown["random"]["macro#"] == shown["random"]["prompts alike#"] == "1.000"
    assert (shown["first"]["coverage#"], shown["first"]["picks / k#"]) == ("-", "1.000")
    assert 0.8 < float(str(shown["random"]["coverage#"])) <= 1
