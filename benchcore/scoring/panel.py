"""The panel: models whose scores are known on the whole pool that a coreset was picked from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError, UsageError
from benchcore.estimation.estimator import Sample
from benchcore.estimation.filled import filled
from benchcore.registry.root import Registry
from benchcore.scoring.matrix import Scores, Wanted, read_matrix
from benchcore.scoring.picked import Picked

# A model belongs to the panel if it has scores on so much of the pool.
SCORED = 0.95


@dataclass(frozen=True, eq=False)
class Panel:
    """Scores of a panel on the pool.

    Attributes:
        models: by name.
        scores: (n, models), NaN where missing.
        groups: (n,) number of each row's benchmark, as in the coreset.
        rows: (k,) where the picks are in the pool.
    """

    models: tuple[str, ...]
    scores: Scores
    groups: NDArray[np.int64]
    rows: NDArray[np.int64]

    @cached_property
    def complete(self) -> Scores:
        """(n, models) without gaps."""
        return filled(self.scores)

    def sample(self, coreset: Picked, members: NDArray[np.int64], picks: NDArray[np.int64]) -> Sample:
        """Some picks as a sample of the benchmarks of a target.

        Args:
            coreset: of the picks.
            members: numbers of the benchmarks.
            picks: numbers of picks, all of these benchmarks.
        """
        inside = np.flatnonzero(np.isin(self.groups, members))
        groups = np.searchsorted(members, self.groups[inside])
        mass = (coreset.shares_of(members) / np.maximum(np.bincount(groups, minlength=len(members)), 1))[groups]
        return Sample(np.searchsorted(inside, self.rows[picks]), groups, mass, {}, panel=self.complete[inside])


def read_panel(
    registry: Registry, coreset: Picked, pool: Wanted, metrics: Mapping[str, str], models: Sequence[str] | None = None
) -> Panel:
    """Read the panel's scores, by the metrics that count on the coreset.

    Args:
        registry: holds `scores`.
        coreset: its picks must be in the pool.
        pool: all prompts that the coreset stands for.
        metrics: benchmark -> metric.
        models: names; None: all that have scores on SCORED of the pool.

    Raises:
        UsageError: a model is named that has scores on too few prompts.
        BenchcoreError: no model has scores on enough of them, or the pool is not that of the coreset.
    """
    groups = all_picked(registry, coreset, pool).groups
    place = {identity: row for row, identity in enumerate(pool.prompt_id)}
    found = read_matrix(registry, pool, models=models, metric=dict(metrics.items()), named_by="--panel-model")
    share = np.isfinite(found.scores).mean(axis=0)
    enough = share >= SCORED
    if models is not None and not enough.all():
        few = [f"{name} {100 * part:.1f} %" for name, part in zip(found.models, share, strict=True) if part < SCORED]
        raise UsageError(
            f"scores on too little of the pool: {', '.join(few[:5])}",
            where="--panel-model",
            mend=f"A panel's models need {100 * SCORED:.0f} % of its {len(place):,} prompts.",
        )
    if not enough.any():
        best = f" (the most: {found.models[int(np.argmax(share))]}, {100 * share.max():.1f} %)" if len(share) else ""
        raise BenchcoreError(
            f"no model has scores on {100 * SCORED:.0f} % of the {len(place):,} prompts of the pool{best}",
            where=registry.root,
            mend="Score a model on all of them and import its logs, or leave out --panel.",
        )
    return Panel(
        models=tuple(name for name, kept in zip(found.models, enough, strict=True) if kept),
        scores=found.scores[:, enough],
        groups=groups,
        rows=np.array([place[identity] for identity in coreset.wanted.prompt_id], np.int64),
    )


def all_picked(registry: Registry, coreset: Picked, pool: Wanted) -> Picked:
    """A coreset as if all prompts that it stands for had been picked, in the order of the pool.

    Raises:
        BenchcoreError: the pool has other prompts than the coreset's manifest counted.
    """
    counts = dict.fromkeys((benchmark.name for benchmark in coreset.benchmarks), 0)
    for name in pool.benchmark:
        counts[name] = counts.get(name, 0) + 1
    pinned = dict(zip(pool.prompt_id, pool.content_hash, strict=True))
    same = [int(size) for size in coreset.sizes] == list(counts.values())
    picks = zip(coreset.wanted.prompt_id, coreset.wanted.content_hash, strict=True)
    if not same or any(pinned.get(identity) != content for identity, content in picks):
        raise BenchcoreError(
            "the pool that the coreset was picked from cannot be rebuilt: other prompts are found than it counted",
            where=registry.root,
            mend="Leave out --panel or --all.",
        )
    number = {benchmark.name: group for group, benchmark in enumerate(coreset.benchmarks)}
    return coreset.all_picked(np.array([number[name] for name in pool.benchmark], np.int64))
