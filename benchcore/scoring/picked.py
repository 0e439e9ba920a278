"""A coreset as scoring sees it: its picks, the benchmarks that they stand for, and how they came about."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.weights import Benchmark
from benchcore.registry.manifests import Manifest, read_picks
from benchcore.registry.root import Registry
from benchcore.scoring.matrix import Wanted
from benchcore.scoring.target_estimate import Kind

# Below this effective number of picks a target's estimate means nothing.
LEAST = 10.0
_ROUNDING = 1e-9
# Designs whose picks are drawn with equal probabilities inside benchmarks.
DRAWN = ("random", "plain_random", "local_pivotal")
AUDIT = "audit"


@dataclass(frozen=True, eq=False)
class Picked:
    """A coreset.

    Attributes:
        wanted: the picks, by rank.
        benchmarks: all of the suite, by name, with their shares.
        sizes: (benchmarks,) distinct prompts that could be picked.
        groups: (k,) number of each pick's benchmark.
        audit: (k,) bool, picks that were drawn for the audit, before and whatever the others are.
        method: that chose them.
        whole: whether every prompt of the suite could be drawn: none was included or excluded beforehand.
        drawn: whether all picks are a random draw inside benchmarks.
        rounds: whether picks are spread over benchmarks in balanced rounds.
        targets: target -> numbers of the benchmarks that it is made of.
    """

    wanted: Wanted
    benchmarks: tuple[Benchmark, ...]
    sizes: NDArray[np.float64]
    groups: NDArray[np.int64]
    audit: NDArray[np.bool_]
    method: str
    whole: bool
    drawn: bool
    rounds: bool
    targets: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """How many picks there are."""
        return len(self.groups)

    @property
    def audited(self) -> bool:
        """Whether intervals can come from the audit."""
        return self.whole and bool(self.audit.any())

    @property
    def shares(self) -> NDArray[np.float64]:
        """(benchmarks,) what each counts in the suite, summing to 1."""
        found = np.array([benchmark.share for benchmark in self.benchmarks], np.float64)
        total: NDArray[np.float64] = found / found.sum()
        return total

    def shares_of(self, members: NDArray[np.int64]) -> NDArray[np.float64]:
        """(members,) what each benchmark of a target counts in it, summing to 1; equal where all count nothing."""
        found = self.shares[members]
        total: NDArray[np.float64] = found / found.sum() if found.sum() > 0 else np.full(len(found), 1 / len(found))
        return total

    def complete(self, members: NDArray[np.int64], groups: NDArray[np.int64]) -> bool:
        """Whether every prompt of a target has a score, so that nothing is left to estimate.

        Args:
            members: numbers of the benchmarks that it is made of.
            groups: (scored picks,) numbers of their benchmarks.
        """
        counts = np.bincount(groups, minlength=len(self.sizes))
        return bool((counts[members] >= self.sizes[members]).all())

    def borrowed(self, members: NDArray[np.int64], groups: NDArray[np.int64]) -> float:
        """Share of a target that its benchmarks without a scored pick make up; arguments as in `complete`."""
        return float(self.shares_of(members)[~np.isin(members, groups)].sum())

    def all_picked(self, groups: NDArray[np.int64]) -> Picked:
        """The same suite with all of its prompts picked.

        Args:
            groups: (n,) number of each prompt's benchmark.
        """
        return replace(self, groups=groups, audit=np.zeros(len(groups), np.bool_), drawn=False, rounds=False)

    @property
    def kind(self) -> Kind:
        """Where the intervals of its estimates come from, as far as there are picks for it."""
        return "design" if self.drawn else "audit" if self.audited else "model"

    def needed_k(self, members: NDArray[np.int64]) -> int | None:
        """The size of such a coreset that would make a target estimable; None where this is not known.

        In balanced rounds: so many that each benchmark has as many picks as are needed, or all of its prompts.
        """
        if not self.rounds:
            return None
        shares = self.shares_of(members)
        for count in range(1, int(np.max(self.sizes[members])) + 1):
            picks = np.minimum(self.sizes[members], count)
            if (picks == self.sizes[members]).all() or enough(np.repeat(shares / picks, picks.astype(int))):
                return int(np.minimum(self.sizes, count).sum())
        return None


def effective(weights: NDArray[np.float64]) -> float:
    """(sum w)^2 / sum w^2: how many picks of equal weight say as much; 0 without weights."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def enough(weights: NDArray[np.float64]) -> bool:
    """Whether picks with these weights make a target estimable."""
    return effective(weights) >= LEAST - _ROUNDING


def picked(registry: Registry, manifest: Manifest) -> Picked:
    """Read a coreset."""
    rows = read_picks(registry, manifest.coreset_id)
    coverage = sorted(manifest.coverage, key=lambda row: str(row["benchmark"]))
    benchmarks = tuple(
        Benchmark(row["benchmark"], row["category"], float(row.get("mass", 1 / len(coverage)))) for row in coverage
    )
    place = {benchmark.name: number for number, benchmark in enumerate(benchmarks)}
    chances = rows["inclusion_probability"]
    semantic = manifest.semantic_configuration
    method = str(semantic.get("method"))
    whole = not (semantic.get("include") or semantic.get("exclude"))
    return Picked(
        wanted=Wanted.of(rows),
        benchmarks=benchmarks,
        sizes=np.array([row.get("distinct", row["prompts"]) for row in coverage], np.float64),
        groups=np.array([place[name] for name in rows["benchmark"].to_pylist()], np.int64),
        audit=np.array([role == AUDIT for role in rows["role"].to_pylist()], np.bool_),
        method=method,
        whole=whole,
        drawn=whole and method in DRAWN and rows.num_rows > 0 and chances.null_count == 0,
        rounds=_in_rounds(method, semantic.get("constraint")),
        targets=_targets(benchmarks),
    )


def _in_rounds(method: str, constraint: object) -> bool:
    from benchcore.methods import METHODS

    balanced = isinstance(constraint, dict) and constraint.get("rounds") == "benchmark"
    return balanced and method in METHODS and METHODS[method].balances


def _targets(benchmarks: tuple[Benchmark, ...]) -> dict[str, NDArray[np.int64]]:
    """`suite`, then categories and benchmarks by name."""
    targets = {"suite": np.arange(len(benchmarks))}
    for category in sorted({benchmark.category for benchmark in benchmarks}):
        members = [number for number, benchmark in enumerate(benchmarks) if benchmark.category == category]
        targets[f"category:{category}"] = np.array(members)
    return targets | {f"benchmark:{benchmark.name}": np.array([n]) for n, benchmark in enumerate(benchmarks)}
