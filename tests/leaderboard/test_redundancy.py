"""Planted leaderboards: tasks that say the same, one that says nothing, one that says what no other does."""

import numpy as np
import pytest

from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.leaderboard.redundancy import ALONE, NOISE, SAME, correlations, explained_by_others, redundancy


def planted(missing: float = 0.0, seed: int = 0) -> ScoreMatrix:
    """Thirty families of four models; two pairs of twin tasks, four tasks of one strength, a lone one and noise."""
    random = np.random.default_rng(seed)
    family = np.repeat(np.arange(30), 4)
    strength = random.normal(size=30)[family] + 0.3 * random.normal(size=120)
    second, lone = random.normal(size=120), random.normal(size=30)[family] + 0.3 * random.normal(size=120)
    columns = [
        *(strength + 0.6 * second + 0.1 * random.normal(size=120) for _ in range(2)),
        *(strength - 0.6 * second + 0.1 * random.normal(size=120) for _ in range(2)),
        *(strength + 0.4 * random.normal(size=120) for _ in range(4)),
        lone,
        random.normal(size=120),
    ]
    scores = 0.5 + 0.08 * np.column_stack(columns)
    scores[random.random(scores.shape) < missing] = np.nan
    tasks = ("a1", "a2", "b1", "b2", "c1", "c2", "c3", "c4", "lone", "noise")
    return ScoreMatrix("planted", tuple(f"m{at}" for at in range(120)), tasks, scores, tuple(f"f{at}" for at in family))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_what_was_planted_is_found(missing: float):
    """Twins are clusters, noise is told from a task that is alone by whether families agree on it."""
    found = redundancy(planted(missing))

    assert [{"a1", "a2"}, {"b1", "b2"}] == sorted((set(cluster.tasks) for cluster in found.clusters), key=min)
    assert all(cluster.least >= 0.95 for cluster in found.clusters)
    assert {task.task: task.verdict for task in found.tasks if task.verdict in (NOISE, ALONE)} == {
        "noise": NOISE,
        "lone": ALONE,
    }
    assert [task.task for task in found.of(SAME)] != []
    assert next(task for task in found.tasks if task.task == "a1").closest == "a2"


def test_correlations_are_those_of_the_models_in_common():
    """With missing cells as without."""
    scores = planted(0.3).scores
    found = correlations(scores)
    both = ~np.isnan(scores[:, 0]) & ~np.isnan(scores[:, 5])

    assert np.isclose(np.corrcoef(scores[both, 0], scores[both, 5])[0, 1], found[0, 5])
    assert np.allclose(found, found.T)


def test_nothing_explains_noise_however_many_tasks_there_are():
    """Tasks to predict from are chosen on the models that are fitted on, so chance finds nothing."""
    scores = np.random.default_rng(0).uniform(size=(60, 65))

    assert explained_by_others(scores).max() < 0.2
    assert explained_by_others(planted().scores)[:4].min() > 0.8


@pytest.mark.parametrize("missing", [0.3, 0.8])
def test_a_task_is_no_predictor_of_itself(missing: float):
    """With most cells missing, what is explained of independent tasks stays nothing, and of alike ones much."""
    random = np.random.default_rng(3)
    gaps = random.random((300, 20)) < missing
    apart, strength = random.normal(size=(300, 20)), random.normal(size=(300, 1))
    alike = strength + 0.3 * random.normal(size=(300, 20))

    assert np.abs(explained_by_others(np.where(gaps, np.nan, apart))).max() < 0.3
    assert explained_by_others(np.where(gaps, np.nan, alike)).min() > 0.6


def test_few_models_in_common_are_told_and_make_no_twins():
    """Tasks of unlike kinds that share half a dozen models correlate highly by chance alone."""
    random = np.random.default_rng(0)
    scores = np.where(random.random((60, 40)) < 0.7, np.nan, random.uniform(size=(60, 40)))
    names = tuple(f"t{at}" for at in range(40))
    found = redundancy(ScoreMatrix("few", tuple(f"m{at}" for at in range(60)), names, scores, ("one",) * 60))

    assert found.clusters == ()
    assert "models in common" in found.notes[0]
    assert redundancy(planted()).notes == ()
