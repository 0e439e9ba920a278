"""Instances on which the compiled loops are used although they are small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from benchcore.submodular.objectives import facility_location
from benchcore.submodular.pairs import passes, tiles
from benchcore.submodular.quantise import Rows, integer_mass, quantise
from benchcore.submodular.similarities.dot import DotSimilarity


@dataclass(frozen=True, eq=False)
class Instance:
    """Rows in clusters, some of them equal, with masses of two kinds."""

    rows: Rows
    mass: NDArray[np.float64]

    @property
    def similarity(self) -> DotSimilarity:
        return DotSimilarity(self.rows, clipped=False)

    @property
    def n(self) -> int:
        return len(self.rows)


def instance(seed: int, n: int = 150, d: int = 8) -> Instance:
    """Every third row is another's copy, exact or near."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(5, d))[random.integers(0, 5, n)] + 0.6 * random.normal(size=(n, d))
    copies = random.integers(0, n, n // 3)
    vectors[copies] = vectors[random.integers(0, n, n // 3)] + np.repeat([0, 1e-4], [n // 6, n // 3 - n // 6])[:, None]
    groups = random.integers(0, 3, n)
    shares = np.bincount(groups, minlength=3)
    return Instance(quantise(vectors, np.zeros(d)), integer_mass(1 / (3 * shares[groups]), groups))


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 64 rows, so that small instances have many, and no path without the compiler."""
    monkeypatch.setattr(facility_location, "MOST_PAIRS", 0)
    monkeypatch.setattr(tiles, "SIDE", 64)
    monkeypatch.setattr(passes, "_COMPILED_PAIRS", 0)
