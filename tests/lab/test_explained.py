"""The explained share is what was planted, and none of noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchcore.lab import explained as module
from benchcore.lab.explained import explained, explained_share, standardised
from benchcore.lab.protocol import Protocol
from benchcore.lab.suites import load_suite
from tests.lab.planted import clustered


@pytest.mark.parametrize("planted", [0.0, 0.3, 0.8])
def test_the_share_that_was_planted_is_found(planted: float):
    """Also beside columns that say nothing, and whatever the benchmarks' own means."""
    generator = np.random.default_rng(0)
    columns = standardised(generator.normal(size=(1500, 12)), "embedding")
    groups = generator.integers(0, 3, 1500)
    signal = columns[:, :2] @ generator.normal(size=(2, 5))
    noise = generator.normal(size=(1500, 5))
    scores = np.sqrt(planted) * signal / signal.std(axis=0) + np.sqrt(1 - planted) * noise + 5.0 * groups[:, None]

    share = explained_share(columns, scores, groups, generator.integers(0, 5, 1500))

    assert share == pytest.approx(planted, abs=0.05)


def test_missing_scores_and_constant_models_do_no_harm():
    generator = np.random.default_rng(0)
    columns = generator.normal(size=(200, 3))
    scores = np.column_stack([columns[:, 0], np.ones(200), columns[:, 1]])
    scores[:150, 2] = np.nan

    assert explained_share(columns, scores, np.zeros(200, int), np.arange(200) % 5) > 0.9


@pytest.mark.parametrize(("size", "missing"), [(1, 0.0), (2, 0.0), (3, 0.2), (10, 0.0), (300, 0.2)])
def test_noise_explains_nothing_in_groups_of_any_size(size: int, missing: float):
    """Nor where scores are missing: what is predicted has a part neither in the means nor in the penalty."""
    shares = []
    for seed in range(6):
        generator = np.random.default_rng(seed)
        groups, scores = np.arange(300) // size, generator.normal(size=(300, 4))
        scores[generator.random((300, 4)) < missing] = np.nan
        columns = generator.normal(size=(300, 8))
        shares.append(explained_share(columns, scores, groups, generator.integers(0, 5, 300)))

    assert -0.15 < np.mean(shares) < 0.01


def test_a_signal_is_found_in_groups_of_three():
    """The means of two prompts are rough, of features as of scores: the share is that inside groups all the same."""
    generator = np.random.default_rng(0)
    groups, columns, fold = np.arange(1200) // 3, generator.normal(size=(1200, 3)), generator.integers(0, 5, 1200)
    signal = columns @ generator.normal(size=(3, 4))
    scores = signal / signal.std(axis=0) + 9.0 * groups[:, None]

    assert explained_share(columns, scores, groups, fold) > 0.99
    noisy = scores + generator.normal(size=scores.shape)
    assert explained_share(columns, noisy, groups, fold) == pytest.approx(0.5, abs=0.05)


def test_surface_figures_count_alike_whatever_their_type():
    """And columns of other blocks keep the scales that they have."""
    block = np.random.default_rng(0).normal(size=(500, 2)) * [1.0, 100.0]

    for kind in (np.float32, np.float64):
        surface, vectors = (standardised(block.astype(kind), name).std(axis=0) for name in ("surface", "embedding"))
        assert surface[1] / surface[0] == pytest.approx(1.0)
        assert vectors[1] / vectors[0] == pytest.approx(block[:, 1].std() / block[:, 0].std(), rel=1e-4)


def test_panels_are_several_of_the_split_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where the strongest are held out, panels are drawn from the others; the share is the mean over panels."""
    suite, asked, shares = load_suite(str(clustered(tmp_path / "a"))), [], []

    def spied(columns: np.ndarray, scores: np.ndarray, *rest: np.ndarray) -> float:
        asked.append(scores)
        shares.append(explained_share(columns, scores, *rest))
        return shares[-1]

    monkeypatch.setattr(module, "explained_share", spied)
    [found] = explained(suite, {}, Protocol(ks=(20,), split="strongest", panel=(3, 50)))

    means = [suite.scores[suite.groups == name].mean(axis=0) for name in suite.benchmarks]
    strongest = np.sort(np.argsort(-np.mean(means, axis=0))[:4])
    assert len(asked) == 5 and len(set(shares)) > 1
    assert all(np.array_equal(suite.scores[:, strongest], scores) for scores in asked)
    assert (found.by, found.share) == ("panel of 3", pytest.approx(np.mean(shares)))
