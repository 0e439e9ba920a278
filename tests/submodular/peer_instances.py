"""Ground sets and objectives that submodlib and this project are given alike; NumPy alone, for the peer's environment.

`infra/peer_figures.py` runs submodlib on them and keeps what it finds in `peer_figures.json`; `test_peers` compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

GRID = 2**12  # coordinates of unit vectors are whole multiples of 1 / GRID: kernels are the same numbers anywhere


@dataclass(frozen=True)
class PeerCase:
    """An objective with its parameters on a seeded ground set.

    Attributes:
        objective: by our name.
        parameters: in the order of our arguments.
        seed: of the ground set.
        n: candidates.
        k: picks.
        twins: exact duplicates among the candidates.
    """

    objective: str
    parameters: tuple[float | str, ...]
    seed: int
    n: int
    k: int
    twins: int

    @property
    def name(self) -> str:
        parameters = " ".join(map(str, self.parameters))
        return f"{self.objective} {parameters} n={self.n} twins={self.twins}"

    def rows(self) -> np.ndarray:
        """(n + 5, 12) unit vectors around 6 centres, on a grid; the last five are the query."""
        random = np.random.default_rng(self.seed)
        centres = random.integers(-8, 9, (6, 12))
        vectors = 2 * centres[random.integers(0, 6, self.n + 5)] + random.integers(-9, 10, (self.n + 5, 12))
        vectors[random.choice(self.n, self.twins, replace=False)] = vectors[random.integers(0, self.n, self.twins)]
        return np.rint(vectors / np.sqrt((vectors**2).sum(axis=1, keepdims=True)) * GRID)

    def kernel(self, *, signed: bool = False) -> np.ndarray:
        """(n + 5, n + 5) cosines in double precision, which hold them exactly; negative ones are 0 unless signed."""
        products = self.rows() @ self.rows().T / GRID**2
        return products if signed else np.maximum(products, 0)

    def features(self) -> np.ndarray:
        """(n, 24) positive and negative parts of coordinates, each column from 0 to 1: submodlib makes it so."""
        rows = self.rows()[: self.n]
        parts = np.hstack([np.maximum(rows, 0), np.maximum(-rows, 0)])
        return parts / parts.max(axis=0)


def cases() -> Iterator[PeerCase]:
    """All of them."""
    objectives: list[tuple[str, tuple[float | str, ...]]] = [
        ("facility location", ()),
        ("graph cut", (0.4,)),
        ("log-determinant", (1.0,)),
        ("log-determinant", (4.0,)),
        ("feature-based", ("sqrt",)),
        ("feature-based", ("log",)),
        ("feature-based", ("ratio",)),
        ("FLVMI", (0.5,)),
        ("FLQMI", (0.8,)),
        ("GCMI", (0.5,)),  # submodlib has no lam; its documentation says 2 lam, what it computes is the sum
        ("COM", (0.7, "sqrt")),
        ("COM", (0.7, "log")),
        ("COM", (0.7, "ratio")),
        ("LogDetMI", (0.8, 0.5)),
    ]
    for objective, parameters in objectives:
        for seed, (n, k, twins) in enumerate(((30, 10, 0), (60, 25, 12), (200, 20, 0))):
            yield PeerCase(objective, parameters, seed, n, k, twins)
