"""Weights that turn scores on the picks into estimates for the suite, a category or a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as a part of the suite.

    Attributes:
        name: stable name.
        category: the category that it belongs to.
        share: its part of the suite's score, not negative; shares need not sum to 1.
    """

    name: str
    category: str
    share: float


@dataclass(frozen=True, eq=False)
class TargetWeights:
    """Weights of the picks for every target that can be estimated.

    Attributes:
        targets: `suite`, `category:...` and `benchmark:...` -> (k,) weights that sum to 1.
        borrowed: benchmarks without a pick, in order of name; others' picks carry their weight.
    """

    targets: Mapping[str, Weights]
    borrowed: tuple[str, ...]


def target_weights(picked: Sequence[str], benchmarks: Sequence[Benchmark]) -> TargetWeights:
    """Weigh picks equally inside a benchmark, and benchmarks by their shares.

    With equal shares a pick's weight for the suite is 1 / (B q_b): B benchmarks, q_b picks of its own. A benchmark
    without a pick lends its share to the picked benchmarks of its category in proportion to theirs, which estimates it
    by the rest of its category; a category without a pick lends its share to all picks likewise. A benchmark or a
    category without a pick is no target: it cannot be estimated by itself.

    Args:
        picked: (k,) benchmark of each pick.
        benchmarks: all benchmarks of the suite, with distinct names.

    Raises:
        ValueError: nothing was picked, or a pick's benchmark is not in the suite.
    """
    known = {benchmark.name for benchmark in benchmarks}
    strangers = sorted(set(picked) - known)
    if strangers or not picked:
        raise ValueError(f"picks of unknown benchmarks: {', '.join(strangers)}" if strangers else "nothing was picked")
    counts = {name: list(picked).count(name) for name in set(picked)}
    ordered = sorted(benchmarks, key=lambda benchmark: benchmark.name)
    targets = {"suite": _spread(picked, counts, _lend(ordered, counts))}
    for category in sorted({benchmark.category for benchmark in ordered}):
        members = [benchmark for benchmark in ordered if benchmark.category == category]
        if any(member.name in counts for member in members):
            targets[f"category:{category}"] = _spread(picked, counts, _lend(members, counts))
    for benchmark in ordered:
        if benchmark.name in counts:
            targets[f"benchmark:{benchmark.name}"] = _spread(picked, counts, {benchmark.name: 1.0})
    return TargetWeights(targets, tuple(benchmark.name for benchmark in ordered if benchmark.name not in counts))


def _lend(members: Sequence[Benchmark], counts: Mapping[str, int]) -> dict[str, float]:
    """Shares of the picked benchmarks, with those of absent ones added: category by category, then over all."""
    lent: dict[str, float] = {}
    for category in sorted({member.category for member in members}):
        own = [member for member in members if member.category == category]
        present = {member.name: member.share for member in own if member.name in counts}
        if present:
            lent |= _scaled(present, sum(member.share for member in own))
    return _scaled(lent, 1.0)


def _scaled(shares: Mapping[str, float], total: float) -> dict[str, float]:
    """Shares in the same proportions that sum to `total`; equal ones where all are zero."""
    present = sum(shares.values())
    if present <= 0:
        return dict.fromkeys(shares, total / len(shares))
    return {name: share * (total / present) for name, share in shares.items()}


def _spread(picked: Sequence[str], counts: Mapping[str, int], shares: Mapping[str, float]) -> Weights:
    weights: Weights = np.array([shares.get(name, 0.0) / counts[name] for name in picked])
    weights /= weights.sum()
    return weights
