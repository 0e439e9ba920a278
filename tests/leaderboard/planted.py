"""Leaderboards whose structure is known."""

from __future__ import annotations

import numpy as np

from benchcore.leaderboard.matrix import ScoreMatrix


def planted(
    seed: int = 0, *, models: int = 60, clusters: int = 4, each: int = 4, missing: float = 0.0, noise: float = 0.01
) -> ScoreMatrix:
    """Clusters of tasks that say the same but for noise, on abilities that share a general one; six families."""
    random = np.random.default_rng(seed)
    abilities = 0.4 + 0.12 * random.normal(size=(models, 1)) + 0.08 * random.normal(size=(models, clusters))
    scores = np.repeat(abilities, each, axis=1) + noise * random.normal(size=(models, clusters * each))
    scores = np.clip(scores, 0, 1)
    scores[random.random(scores.shape) < missing] = np.nan
    return ScoreMatrix(
        name="planted",
        models=tuple(f"family{number % 6}-{number}b" for number in range(models)),
        tasks=tuple(f"task{number:02d}" for number in range(clusters * each)),
        scores=scores,
        families=tuple(f"family{number % 6}" for number in range(models)),
        costs=random.uniform(1, 5, clusters * each),
    )
