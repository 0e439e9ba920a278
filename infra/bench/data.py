"""Seeded data to pick from: vectors in topics with duplicates, random ones, sparse features, groups, prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Indices = NDArray[np.int64]

DIMENSIONS = 384
_TOPIC_ROWS = 100  # rows of a topic on average
_SPREAD = 0.8  # distance of rows from their topic, which is 1 long: cosines inside are near 0.6
_GROUPS = 40
ENTRIES = 100  # of a row of features
_FEATURES = 10_000
_FEATURE_ROWS = 50_000  # made at a time


def vectors(kind: str, n: int, seed: int = 0) -> Vectors:
    """Make (n, DIMENSIONS) rows of unit length.

    Args:
        kind: `clustered` (n / 100 topics with sizes of a Dirichlet distribution, 2 % exact duplicates), `random`, or
            `duplicates` (the first, and then half of the rows are exact and a quarter near duplicates of others).
        n: rows.
        seed: of all that is random.
    """
    random = np.random.default_rng(seed)
    if kind == "random":
        return _unit(random.standard_normal((n, DIMENSIONS), dtype=np.float32))
    rows = _clustered(n, random)[0]
    if kind == "duplicates":
        order = random.permutation(n)
        copies, near = order[: n // 2], order[n // 2 : 3 * n // 4]
        rows[near] = rows[random.integers(0, n, near.size)]
        rows[near] += random.standard_normal((near.size, DIMENSIONS), dtype=np.float32) * np.float32(1e-4)
        rows[copies] = rows[random.choice(order[n // 2 :], copies.size)]
    elif kind != "clustered":
        raise ValueError(f"unknown kind of data: {kind}")
    return _unit(rows)


def groups(n: int, seed: int = 0) -> Indices:
    """Give each row of `clustered` one of 40 groups that hold topics together; the largest has 40 times the smallest.

    Groups differ in what they are about, as benchmarks do.
    """
    topics = _clustered(n, np.random.default_rng(seed))[1]
    ends = np.cumsum(np.arange(1, _GROUPS + 1)) / (_GROUPS * (_GROUPS + 1) / 2)
    members = np.zeros(n, np.int64)
    members[np.argsort(topics, kind="stable")] = np.searchsorted(ends, (np.arange(n) + 0.5) / n)
    return members


def prices(n: int, seed: int = 0) -> NDArray[np.float64]:
    """(n,) lengths in tokens, log-normal around 150."""
    return np.rint(np.random.default_rng(seed).lognormal(5.0, 0.6, n)) + 1.0


def features(n: int, seed: int = 0) -> Any:
    """(n, 10,000) amounts from 0 to 1, a sparse matrix with 100 a row; topics share half of theirs.

    Features come in 100 strips of 100. A row has one of each, of which the first are the most frequent.
    """
    from scipy import sparse

    random = np.random.default_rng(seed)
    strip = _FEATURES // ENTRIES
    usual = random.integers(0, strip, (max(10, n // _TOPIC_ROWS), ENTRIES), dtype=np.int32)
    columns, amounts = np.empty((n, ENTRIES), np.int32), np.empty((n, ENTRIES), np.float32)
    for start in range(0, n, _FEATURE_ROWS):
        shape = (min(_FEATURE_ROWS, n - start), ENTRIES)
        own = (random.random(shape, np.float32) ** 3 * strip).astype(np.int32)
        shared = usual[random.integers(0, len(usual), shape[0])]
        rows = slice(start, start + shape[0])
        columns[rows] = np.where(random.random(shape, np.float32) < 0.5, shared, own)
        columns[rows] += strip * np.arange(ENTRIES, dtype=np.int32)
        amounts[rows] = 1 - random.random(shape, np.float32)
    starts = np.arange(0, n * ENTRIES + 1, ENTRIES, dtype=np.int32)
    return sparse.csr_array((amounts.reshape(-1), columns.reshape(-1), starts), shape=(n, _FEATURES))


def _clustered(n: int, random: np.random.Generator) -> tuple[Vectors, Indices]:
    """Rows, of unit length only after `_unit`, and the topic of each."""
    topics = max(10, n // _TOPIC_ROWS)
    centres = _unit(random.standard_normal((topics, DIMENSIONS), dtype=np.float32))
    topic = random.choice(topics, size=n, p=random.dirichlet(np.full(topics, 0.5)))
    spread = np.float32(_SPREAD / np.sqrt(DIMENSIONS))
    rows = centres[topic] + random.standard_normal((n, DIMENSIONS), dtype=np.float32) * spread
    copies = random.choice(n, size=n // 50, replace=False)
    originals = random.integers(0, n, size=copies.size)
    rows[copies], topic[copies] = rows[originals], topic[originals]
    return rows, topic


def _unit(rows: Vectors) -> Vectors:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows
