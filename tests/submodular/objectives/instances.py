"""Small ground sets with everything that breaks a greedy: exact and near duplicates, orthogonal and useless rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from benchcore.submodular.quantise import UNIT, integer_mass, quantise
from benchcore.submodular.similarities.dot import DotSimilarity

KINDS = ("clustered", "random", "identical", "orthogonal", "useless", "some useless")


@dataclass(frozen=True)
class Instance:
    """What objectives are made of.

    Attributes:
        rows: (n, d) whole numbers, of `quantise`.
        mass: (n,) whole numbers, of `integer_mass`; some may be 0.
        features: (n, f) not negative, many equal and many 0.
        queries: (2, d) whole numbers, of `quantise`.
        avoid: (2, d) whole numbers, of `quantise`.
    """

    rows: np.ndarray
    mass: np.ndarray
    features: np.ndarray
    queries: np.ndarray
    avoid: np.ndarray

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def similarity(self) -> DotSimilarity:
        """Clipped cosines."""
        return DotSimilarity(self.rows)

    @cached_property
    def share(self) -> np.ndarray:
        """(n,) mass that sums to 1, for references."""
        return self.mass / self.mass.sum()

    @cached_property
    def cosines(self) -> np.ndarray:
        """(n, n) clipped cosines in double precision, for references."""
        return np.maximum(self.rows.astype(np.int64) @ self.rows.astype(np.int64).T, 0) / UNIT

    def permuted(self, order: np.ndarray) -> Instance:
        """The same rows in another order."""
        return Instance(self.rows[order], self.mass[order], self.features[order], self.queries, self.avoid)


def instance(seed: int, n: int, kind: str = "clustered") -> Instance:
    """A ground set of a kind of KINDS."""
    random = np.random.default_rng(seed)
    vectors = _vectors(random, n, kind)
    useless = ~vectors.any(axis=1)
    rows = quantise(vectors, np.zeros(vectors.shape[1]))
    rows[useless] = 0
    others = quantise(random.normal(size=(4, vectors.shape[1])).astype(np.float32), np.zeros(vectors.shape[1]))
    weight = np.ones(n) if seed % 2 else random.integers(0, 4, n) + (np.arange(n) == 0)
    mass = integer_mass(weight / weight.sum(), np.zeros(n, np.int64))
    features = np.round(np.hstack([np.maximum(vectors, 0), np.maximum(-vectors, 0)]) * 8) / 8
    return Instance(rows, mass, features.astype(np.float32), others[:2], others[2:])


def _vectors(random: np.random.Generator, n: int, kind: str) -> np.ndarray:
    if kind == "orthogonal":
        return np.eye(n, dtype=np.float32)
    vectors = random.normal(size=(n, 5))
    if kind != "random":
        centres = random.normal(size=(1 if kind == "identical" else 3, 5))
        vectors = centres[random.integers(0, len(centres), n)]
        if kind != "identical":
            vectors = vectors + random.choice([0.0, 1e-3, 0.3], (n, 1), p=[0.4, 0.2, 0.4]) * random.normal(size=(n, 5))
    if kind == "useless":
        vectors[:] = 0
    if kind == "some useless":
        vectors[random.random(n) < 0.5] = 0
    return vectors.astype(np.float32)


def instances(least: int = 1, most: int = 14, kinds: tuple[str, ...] = KINDS) -> st.SearchStrategy[Instance]:
    """Ground sets of any kind."""
    return st.builds(instance, st.integers(0, 9999), st.integers(least, most), st.sampled_from(kinds))
