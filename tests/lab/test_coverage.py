"""How often the intervals of random designs hold the true scores, as the lab tells it, also on real scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchcore.lab.compare import compare
from benchcore.lab.coverage import held, intervals
from benchcore.lab.protocol import Protocol, Trial, trial_of
from benchcore.lab.suites import Suite, load_suite
from benchcore.methods import METHODS
from benchcore.methods.text_features import ngrams
from tests.lab.planted import PLANTED, clustered, field

QUICK = Protocol(ks=(20, 40), repeats=6, draws=20, control_draws=20, panel=(2,))
SUITES = {"ifeval": ("ifeval",), "zeroeval": ("zeroeval_gsm", "zeroeval_crux", "zeroeval_math_l5")}


def test_rows_tell_coverage_of_designs_alone(tmp_path: Path):
    methods = field(**PLANTED, local_pivotal=METHODS["local_pivotal"])
    found = compare([str(clustered(tmp_path / "a", clusters=4))], QUICK, blocks=(), field=methods)

    told = {(row.method, row.k): row for row in found.rows if row.estimator == "macro"}
    assert told["planted", 40].coverage is told["planted", 40].interval_width is None
    assert {row.coverage for row in found.rows if row.estimator != "macro"} == {None}
    for k in QUICK.ks:
        control, spread = told["random", k], told["local_pivotal", k]
        assert 0.9 < control.coverage <= 1
        assert 0.9 < spread.coverage <= 1
        assert spread.interval_width < 0.8 * control.interval_width  # four clusters settle the scores
    assert told["random", 20].interval_width > told["random", 40].interval_width


def test_a_draw_without_quotas_is_told_as_one_from_the_whole(tmp_path: Path):
    """Under either name; where tokens are equal, there is no interval of anything."""
    folder, methods = [str(clustered(tmp_path / "a"))], field(plain_random=METHODS["plain_random"])
    wanted = ["random:unbalanced", "plain_random"]
    for equal in ("prompts", "tokens"):
        found = compare(folder, replace(QUICK, equal=equal), methods=wanted, estimators=[], blocks=(), field=methods)
        told = {row.method: row.coverage for row in found.rows if row.k == 40}

        assert set(told) == {"random", *wanted}
        if equal == "tokens":
            assert set(told.values()) == {None}
        else:
            assert all(0.85 < told[name] <= 1 for name in wanted)


def real(shared: Path, name: str) -> Suite:
    return load_suite("+".join(str(shared / "scores" / part) for part in SUITES[name]))


def coverage(trial: Trial, method: str, k: int, draws: int) -> float:
    """Mean over models of how often the interval of a draw holds the true score."""
    truth, scores, hits = trial.truth(0), trial.scores(0), []
    for draw in range(draws):
        picks = METHODS[method](trial.problem(k, draw, balanced=True, with_scores=False)).indices
        found = intervals(trial, method, picks, scores[picks])
        assert found is not None
        hits.append(held(found, truth).mean())
    return float(np.mean(hits))


@pytest.mark.parametrize(("method", "draws"), [("random", 400), ("local_pivotal", 100)])
@pytest.mark.parametrize("name", list(SUITES))
def test_intervals_hold_the_true_scores_of_real_models(shared_data: Path, name: str, method: str, draws: int):
    """Instruction following, and three benchmarks of reasoning: 70 picks of one sub-pool."""
    suite = real(shared_data, name)
    some = trial_of(suite, {"embedding": ngrams(suite.texts)}, replace(QUICK, least=0.25, most=0.25), 0)

    found = coverage(some, method, 70, draws)

    assert found == pytest.approx(0.95, abs=1.96 * np.sqrt(0.95 * 0.05 / draws))
