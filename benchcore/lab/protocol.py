"""How methods are measured: what a comparison is made of, and one trial of it, a sub-pool with its models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.lab.splits import ModelSplit, smallest_pool, split_models, sub_pool
from benchcore.lab.suites import Suite
from benchcore.methods.problem import Problem
from benchcore.registry.identity import digest

Scores = NDArray[np.float64]

SHUFFLED, PERMUTED = "shuffled", "permuted-scores"
ABLATIONS = (SHUFFLED, PERMUTED)
PROMPTS, TOKENS = "prompts", "tokens"
EQUALS = (PROMPTS, TOKENS)


@dataclass(frozen=True)
class Protocol:
    """Settings of a comparison.

    Attributes:
        ks: budgets, ascending.
        repeats: sub-pools of each suite.
        draws: seeds of a method that draws, on each sub-pool.
        control_draws: seeds of the control.
        split: how models are split where some are looked at; see `splits.SPLITS`.
        panel: sizes of the panel for estimators that need one.
        ablation: `shuffled` permutes the rows of the feature blocks inside each benchmark, `permuted-scores` the scores
            of the scored models: in both, features say nothing about scores any more. None: nothing of the kind.
        equal: what methods have the same of: `prompts`, or `tokens`, for which characters stand.
        seed: of all that is drawn.
        least: smallest share of the prompts in a sub-pool.
        most: largest share.
    """

    ks: tuple[int, ...]
    repeats: int = 20
    draws: int = 10
    control_draws: int = 100
    split: str = "random"
    panel: tuple[int, ...] = (3, 10)
    ablation: str | None = None
    equal: str = PROMPTS
    seed: int = 0
    least: float = 0.6
    most: float = 0.8

    def generator(self, *names: object) -> np.random.Generator:
        """A generator that depends on the seed and on what it is for, alone."""
        return np.random.default_rng(int(digest("lab", self.seed, *names)[:15], 16))


def require_budgets(suite: Suite, protocol: Protocol) -> None:
    """Refuse budgets that a suite has no room for.

    Raises:
        UsageError: k is below the number of benchmarks, or above the size of the smallest sub-pool.
    """
    numbers = np.unique(suite.groups, return_inverse=True)[1]
    benchmarks, room = len(suite.benchmarks), smallest_pool(numbers, protocol.least)
    if protocol.ks[0] < benchmarks:
        raise UsageError(
            f"k = {protocol.ks[0]} is below the number of benchmarks of {suite.name} ({benchmarks})",
            where="--k",
            mend=f"Choose k from {benchmarks} to {room:,}.",
        )
    if protocol.ks[-1] > room:
        raise UsageError(
            f"k = {protocol.ks[-1]} is above the smallest sub-pool of {suite.name}: {room:,} prompts",
            where="--k",
            mend=f"Choose k from {benchmarks} to {room:,}." if room >= benchmarks else "",
        )


def usual_pool(groups: NDArray[np.str_], protocol: Protocol) -> int:
    """Size of a sub-pool with the mean share of prompts."""
    return smallest_pool(np.unique(groups, return_inverse=True)[1], (protocol.least + protocol.most) / 2)


@dataclass(frozen=True, eq=False)
class Trial:
    """One sub-pool of a suite.

    Attributes:
        suite: the whole.
        protocol: settings.
        repeat: number of the sub-pool.
        rows: (n,) positions in the suite, ascending.
        split: models that are scored, and those that may be looked at.
        features: blocks of the sub-pool by name.
    """

    suite: Suite
    protocol: Protocol
    repeat: int
    rows: NDArray[np.int64]
    split: ModelSplit
    features: Mapping[str, NDArray[Any]]

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """(n,) number of each prompt's benchmark."""
        return np.unique(self.suite.groups[self.rows], return_inverse=True)[1].astype(np.int64)

    @cached_property
    def mass(self) -> NDArray[np.float64]:
        """(n,) what each prompt counts: benchmarks the same, prompts the same inside a benchmark."""
        sizes = np.bincount(self.groups)
        return np.asarray((1.0 / (len(sizes) * sizes))[self.groups], np.float64)

    @cached_property
    def relative_lengths(self) -> NDArray[np.float64]:
        """(n,) characters of each text, relative to their mean over benchmarks."""
        lengths = self.suite.lengths[self.rows].astype(np.float64)
        return np.asarray(lengths / max(float(self.mass @ lengths), 1e-12), np.float64)

    @cached_property
    def coordinates(self) -> NDArray[np.float32]:
        """(n, d) in which designs spread their picks."""
        from benchcore.methods.kernel_mean.mean_kernel import full_kernel

        return full_kernel(self.problem(1, 0, balanced=True, with_scores=False)).coordinates

    @cached_property
    def source(self) -> Scores:
        """(n, models) scores of the models that may be looked at."""
        return self.suite.scores[np.ix_(self.rows, self.split.source)]

    def scores(self, draw: int) -> Scores:
        """(n, models) scores that are estimated; permuted inside benchmarks where the protocol asks for it."""
        if self.protocol.ablation != PERMUTED:
            return self._scores
        return self.suite.scores[self.permutation(draw)]

    def permutation(self, number: int) -> NDArray[np.int64]:
        """(n,) rows of the suite that take the place of the sub-pool's, of the same benchmarks.

        One permutation of the whole suite serves all sub-pools: they share its luck as they share prompts.
        """
        if number not in self._permutations:
            moved = _permutation(self.suite.groups, self.protocol.generator(PERMUTED, number))
            self._permutations[number] = moved[self.rows]
        return self._permutations[number]

    @cached_property
    def _permutations(self) -> dict[int, NDArray[np.int64]]:
        return {}

    @cached_property
    def _scores(self) -> Scores:
        return self.suite.scores[self.rows]

    def truth(self, draw: int) -> Scores:
        """(models,) macro scores on the sub-pool; NaN for a model without a score in some benchmark."""
        return np.asarray(self.benchmark_truth(draw).mean(axis=0), np.float64)

    def benchmark_truth(self, draw: int) -> Scores:
        """(benchmarks, models) mean scores on the sub-pool; NaN where a model has none."""
        permuted = self.protocol.ablation == PERMUTED
        return benchmark_means(self.scores(draw), self.groups) if permuted else self._benchmark_truth

    @cached_property
    def _benchmark_truth(self) -> Scores:
        return benchmark_means(self._scores, self.groups)

    @cached_property
    def prompt_shares(self) -> NDArray[np.float64]:
        """(benchmarks,) share of the sub-pool's prompts."""
        return np.bincount(self.groups) / len(self.groups)

    @cached_property
    def known(self) -> Scores:
        """(suite's prompts, models) all scores, missing ones replaced by the model's mean in the benchmark."""
        groups = np.unique(self.suite.groups, return_inverse=True)[1].astype(np.int64)
        scores = self.suite.scores
        return np.where(np.isnan(scores), benchmark_means(scores, groups)[groups], scores)

    @cached_property
    def permuted_truth(self) -> Scores:
        """(permutations, models) macro scores of the sub-pool where `permutation` has moved the suite's scores."""
        from benchcore.lab.luck import PERMUTATIONS

        mass = np.zeros((PERMUTATIONS, len(self.suite.ids)))
        for number in range(PERMUTATIONS):
            mass[number, self.permutation(number)] = self.mass
        return np.asarray(mass @ self.known, np.float64)

    def item_response(self, panel: int) -> NDArray[np.float64]:
        """(n, 2) slopes and intercepts fitted on the panel: once for all picks."""
        if panel not in self._fits:
            from benchcore.estimation.item_response import fit_item_response

            fit = fit_item_response(self.source[:, :panel])
            self._fits[panel] = np.column_stack([fit.slopes, fit.intercepts])
        return self._fits[panel]

    @cached_property
    def _fits(self) -> dict[int, NDArray[np.float64]]:
        return {}

    def problem(self, k: int, draw: int, *, balanced: bool, with_scores: bool) -> Problem:
        """What a method is given."""
        features = {**self.features, "scores": self.source} if with_scores else dict(self.features)
        return Problem(
            ids=self.suite.ids[self.rows],
            groups=self.suite.groups[self.rows],
            mass=self.mass,
            features=features,
            k=k,
            balanced=balanced,
            seed=int(self.protocol.generator("draw", self.repeat, draw).integers(2**31)),
        )


def trial_of(suite: Suite, features: Mapping[str, NDArray[Any]], protocol: Protocol, repeat: int) -> Trial:
    """Draw a sub-pool of a suite and split its models.

    Args:
        suite: the whole.
        features: its blocks.
        protocol: settings.
        repeat: number of the sub-pool; the draw depends on it and the seed alone.

    Raises:
        UsageError: the split cannot be made.
    """
    numbers = np.unique(suite.groups, return_inverse=True)[1].astype(np.int64)
    rows = sub_pool(numbers, protocol.least, protocol.most, protocol.generator("pool", suite.name, repeat))
    strength = macro_scores(suite.scores, numbers)
    split = split_models(protocol.split, suite.models, strength, protocol.generator("split", suite.name, repeat))
    place = rows
    if protocol.ablation == SHUFFLED:
        shuffled = _permutation(suite.groups[rows], protocol.generator(SHUFFLED, suite.name, repeat))
        place = rows[shuffled]
    return Trial(suite, protocol, repeat, rows, split, {name: block[place] for name, block in features.items()})


def macro_scores(scores: Scores, groups: NDArray[np.int64]) -> Scores:
    """(models,) mean over benchmarks of the mean score inside each; NaN where a benchmark has no score."""
    return np.asarray(benchmark_means(scores, groups).mean(axis=0), np.float64)


def benchmark_means(scores: Scores, groups: NDArray[np.int64], size: int | None = None) -> Scores:
    """Mean score inside each benchmark.

    Args:
        scores: (n, models), NaN where missing.
        groups: (n,) numbers of the benchmarks.
        size: how many benchmarks there are; None: up to the last one that occurs.

    Returns:
        (benchmarks, models), NaN where there is no score.
    """
    member = np.zeros((int(groups.max()) + 1 if size is None else size, len(groups)))
    member[groups, np.arange(len(groups))] = 1.0
    seen = ~np.isnan(scores)
    if seen.all():
        counts, total = member.sum(axis=1, keepdims=True), member @ scores
    else:
        counts, total = member @ seen, member @ np.where(seen, scores, 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / counts, np.float64)


def _permutation(groups: NDArray[np.str_], generator: np.random.Generator) -> NDArray[np.int64]:
    """A random permutation of positions that keeps each in its group."""
    order = generator.permutation(len(groups))
    moved = np.empty(len(groups), np.int64)
    moved[np.argsort(groups, kind="stable")] = order[np.argsort(groups[order], kind="stable")]
    return moved
