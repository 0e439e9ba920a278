"""On real scores: intervals of draws hold as often as they say, and alarms stay rare (figures in docs/estimates.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from benchcore.datasets import load_scores
from benchcore.estimation.departure import departure, usual
from benchcore.estimation.differences import paired_difference
from benchcore.estimation.estimator import Sample
from benchcore.estimation.panel_intervals import aipw_intervals

pytestmark = pytest.mark.slow

DRAWS, PAIRS = 200, 800
SUITES = {
    "ifeval": ("ifeval",),
    "zeroeval": ("zeroeval_gsm", "zeroeval_crux", "zeroeval_math_l5"),
    "mmlu_pro": ("mmlu_pro",),
}


@dataclass(frozen=True, eq=False)
class Suite:
    """Scores (n, models), none missing, and the benchmark of each prompt."""

    scores: np.ndarray
    groups: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        return np.bincount(self.groups).astype(np.float64)

    @property
    def mass(self) -> np.ndarray:
        return (1 / len(self.sizes) / self.sizes)[self.groups]

    @property
    def truth(self) -> np.ndarray:
        return self.mass @ self.scores

    def draw(self, k: int, generator: np.random.Generator) -> np.ndarray:
        """k prompts in balanced rounds."""
        counts = np.full(len(self.sizes), k // len(self.sizes))
        counts[generator.permutation(len(counts))[: k - counts.sum()]] += 1
        rows = [np.flatnonzero(self.groups == group) for group in range(len(counts))]
        return np.concatenate([generator.choice(own, n, replace=False) for own, n in zip(rows, counts, strict=True)])


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest) -> Suite:
    sets = [load_scores(name) for name in SUITES[request.param]]
    common = sorted(set.intersection(*(set(one.models) for one in sets)))
    scores = np.concatenate([one.scores[:, [one.models.index(name) for name in common]] for one in sets])
    groups = np.unique(np.concatenate([one.groups for one in sets]), return_inverse=True)[1]
    return Suite(np.unique(scores[:, np.isfinite(scores).all(axis=0)], axis=1), groups)


@pytest.mark.parametrize("k", [50, 100, 200])
@pytest.mark.parametrize("panel", [3, 10])
@pytest.mark.parametrize("strongest", [False, True])
def test_intervals_that_lean_on_a_panel_hold(suite: Suite, k: int, panel: int, strongest: bool):
    """For other models, and for the strongest third with a panel of weaker ones."""
    generator, held = np.random.default_rng(0), []
    models, order = suite.scores.shape[1], np.argsort(suite.truth)
    for _ in range(DRAWS):
        others = generator.permutation(models)
        top = order[-int(0.3 * models) :]
        known = generator.choice(order[: -len(top)], panel, replace=False) if strongest else others[:panel]
        judged, picks = top if strongest else others[panel:], suite.draw(k, generator)
        sample = Sample(picks, suite.groups, suite.mass, {}, panel=suite.scores[:, known])
        found = aipw_intervals(sample, suite.scores[np.ix_(picks, judged)])
        held.append(((found.low <= suite.truth[judged]) & (suite.truth[judged] <= found.high)).mean())

    assert 0.93 < np.mean(held) < 0.98


@pytest.mark.parametrize("k", [50, 100, 200])
def test_paired_differences_hold(suite: Suite, k: int):
    """Of any two models."""
    generator, held = np.random.default_rng(0), 0
    shares = np.full(len(suite.sizes), 1 / len(suite.sizes))
    for _ in range(PAIRS):
        one, other = generator.choice(suite.scores.shape[1], 2, replace=False)
        picks = suite.draw(k, generator)
        differences = suite.scores[picks, one] - suite.scores[picks, other]
        found = paired_difference(differences, suite.groups[picks], suite.sizes, shares)
        held += found.low - 1e-9 <= suite.truth[one] - suite.truth[other] <= found.high + 1e-9

    assert 0.95 - 1.96 * np.sqrt(0.95 * 0.05 / PAIRS) <= held / PAIRS < 0.98


@pytest.mark.parametrize("k", [50, 100, 200])
@pytest.mark.parametrize("others", [5, 10, 20])
def test_alarms_are_rare_among_models_of_all_kinds(suite: Suite, k: int, others: int):
    """One model against others drawn from the same."""
    generator, found = np.random.default_rng(0), 0
    for _ in range(DRAWS):
        models, picks = generator.permutation(suite.scores.shape[1])[: others + 1], suite.draw(k, generator)
        own = suite.scores[np.ix_(picks, models)]
        groups, rest = suite.groups[picks], own[:, 1:]
        told = departure(own[:, 0], rest.mean(axis=1), usual(rest, groups), groups)
        found += told is not None and told.departs

    assert found / DRAWS <= 0.05 + 1.96 * np.sqrt(0.05 * 0.95 / DRAWS)
