"""Simulated models: made-up scores on prompts, a small share of which their vectors explain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

EXPLAINED = 0.05
# Of the difficulty, so that EXPLAINED of the right and wrong answers is explained: chance adds to them what is not.
_OF_DIFFICULTY = 0.16
_STEEPNESS = 1.7
_ABILITIES = np.array([-0.8, 0.0, 0.8])


def groups_standardised(values: Values, groups: NDArray[np.int64]) -> Values:
    """Values less their means inside groups, in units of their spread there."""
    counts = np.bincount(groups)
    centred = values - (np.bincount(groups, values) / counts)[groups]
    spread = np.sqrt(np.bincount(groups, centred**2) / counts)
    return centred / np.where(spread > 0, spread, 1.0)[groups]


def answers(explained: Values, generator: np.random.Generator) -> Values:
    """Right and wrong answers of three models: what is explained of a prompt's difficulty is given, the rest is noise.

    Args:
        explained: (n,) part of the difficulty that is known, standardised.
        generator: of the noise, which the three models share, and of their answers.

    Returns:
        (n, 3) of 0 and 1.
    """
    noise = generator.normal(size=len(explained))
    difficulty = np.sqrt(_OF_DIFFICULTY) * explained + np.sqrt(1 - _OF_DIFFICULTY) * noise
    chances = 1 / (1 + np.exp(_STEEPNESS * (difficulty[:, None] - _ABILITIES)))
    return (generator.uniform(size=chances.shape) < chances).astype(np.float64)


def difficulty_from(vectors: NDArray[np.floating], groups: NDArray[np.int64], generator: np.random.Generator) -> Values:
    """(n,) a random function of the vectors, standardised inside groups."""
    centred = np.asarray(vectors - vectors.mean(axis=0), np.float64)
    return groups_standardised(centred @ generator.normal(size=vectors.shape[1]), groups)


def binomial_band(chance: float, trials: int, outside: float = 0.001) -> tuple[float, float]:
    """Shares between which that of successes in independent trials lies, but for so small a chance outside."""
    from scipy.stats import binom

    low, high = binom.ppf([outside / 2, 1 - outside / 2], trials, chance)
    return low / trials, high / trials
