"""The Gaussian (radial basis function) kernel, from exact squared distances.

Rows are centred and brought, on one scale, to whole numbers of norm at most 2^11. The squared distance of two is
|x|^2 + |y|^2 - 2 x.y, the dot product of (x, |x|^2, 1) and (-2 y, 1, |y|^2): by Cauchy-Schwarz every partial sum is a
whole number of at most 2^23 + 2 * 2^22 = 2^24, which single precision holds exactly.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import Rows, quantise_lengths
from benchcore.submodular.similarities.curve import Curve
from benchcore.submodular.similarities.curved import CurvedSimilarity

RADIUS = 2**11  # the largest norm of a centred row

_SAMPLE = 1024  # rows whose distances give the median


def rbf_rows(vectors: NDArray[np.floating], centre: NDArray[np.float64], longest: float) -> Rows:
    """Rows from which `rbf_similarity` has squared distances, in units of (longest / RADIUS)^2.

    Args:
        vectors: (n, d) finite.
        centre: (d,) subtracted from every row; any will do, the nearer the finer.
        longest: (positive) no centred row is longer.

    Returns:
        (n, d + 2) whole numbers.
    """
    rows = quantise_lengths(vectors, centre, longest, RADIUS)
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.column_stack([rows, squares, np.ones_like(squares)])


def rbf_similarity(candidates: Rows, represented: Rows | None, curve: Curve) -> CurvedSimilarity:
    """curve(squared distance) of rows of `rbf_rows`."""
    others = candidates if represented is None else represented
    return CurvedSimilarity(candidates, mirrored(others), curve, symmetric=others is candidates)


def sample(vectors: NDArray[np.floating]) -> NDArray[np.int64]:
    """Positions of up to 1,024 rows, by hashes of what is in them: the same rows in any order of rows.

    Args:
        vectors: (n, d).
    """
    if len(vectors) <= _SAMPLE:
        return np.arange(len(vectors))
    hashes = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in vectors]
    return np.argsort(np.array(hashes, "S8"), kind="stable")[:_SAMPLE].astype(np.int64)


def median_square(rows: Rows) -> float:
    """Median squared distance of all pairs of rows that differ.

    Args:
        rows: of `rbf_rows`.

    Returns:
        A positive number in units of (longest / RADIUS)^2; 1 where all rows are equal.
    """
    squares = (rows @ mirrored(rows).T)[np.triu_indices(len(rows), 1)].astype(np.float64)
    apart = squares[squares > 0]
    return float(np.median(apart)) if apart.size else 1.0


def mirrored(rows: Rows) -> Rows:
    """Turn (x, |x|^2, 1) into (-2 x, 1, |x|^2)."""
    return np.column_stack([-2 * rows[:, :-2], rows[:, -1], rows[:, -2]])
