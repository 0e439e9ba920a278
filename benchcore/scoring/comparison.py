"""Is one model better than another: the difference of their scores on the same prompts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError, UsageError
from benchcore.estimation.differences import Difference, paired_difference
from benchcore.registry.manifests import Manifest
from benchcore.registry.root import Registry
from benchcore.scoring.everywhere import everywhere
from benchcore.scoring.matrix import ScoreMatrix, Wanted, read_matrix
from benchcore.scoring.panel import all_picked
from benchcore.scoring.pattern import lent_weights
from benchcore.scoring.picked import Picked, effective, enough, picked
from benchcore.scoring.target_estimate import Kind


@dataclass(frozen=True)
class TargetDifference:
    """How much better one model is than the other for a target.

    Attributes:
        target: `suite`, `category:...` or `benchmark:...`.
        prompts: picks that both have a score on.
        n_eff: (sum w)^2 / sum w^2 of their weights.
        borrowed: share of the target's weight that benchmarks with scores carry for those without.
        estimate: score of the first less that of the second, in [-1, 1]; None where it is not estimable.
        low: lower end of the interval, None likewise.
        high: upper end.
        kind: where the interval comes from, as in TargetEstimate.
        further: prompts more that would settle which is better, if the difference and the spread of differences stayed
            as they are; 0 where it is settled, None where no number would.
    """

    target: str
    prompts: int
    n_eff: float
    borrowed: float
    estimate: float | None
    low: float | None
    high: float | None
    kind: Kind
    further: int | None


@dataclass(frozen=True)
class Comparison:
    """Two models on the same prompts.

    Attributes:
        coreset_id: whose picks they were scored on.
        first: name of a model.
        second: name of the other.
        level: of the intervals.
        targets: the suite, then its categories and benchmarks by name.
        one_sided: prompts that only one of the two has a score on.
        unscored: prompts that neither has a score on.
        notes: what the reader should know, a line each.
        everywhere: whether all prompts were looked at, and not only the picks.
    """

    coreset_id: str
    first: str
    second: str
    level: float
    targets: tuple[TargetDifference, ...]
    one_sided: int
    unscored: int
    notes: tuple[str, ...]
    everywhere: bool = False

    @property
    def suite(self) -> TargetDifference:
        """The difference for the whole."""
        return self.targets[0]


def compare(
    registry: Registry,
    manifest: Manifest,
    first: str,
    second: str,
    *,
    metric: tuple[str, ...] = (),
    run: str | None = None,
    level: float = 0.95,
    pool: Wanted | None = None,
) -> Comparison:
    """Compare two models on the picks that both have a score on, or on all prompts.

    Args:
        registry: holds `coresets` and `scores`.
        manifest: of the coreset.
        first: name of a model.
        second: name of another.
        metric: `METRIC` or `BENCHMARK=METRIC` each.
        run: the only run that counts; None: the newest of each model and prompt.
        level: of the intervals.
        pool: all prompts that the coreset stands for, to compare on; None: the picks.

    Raises:
        UsageError: the models are the same, or one has no scores on the picks.
        BenchcoreError: they have no pick in common.
    """
    if first == second:
        raise UsageError(f"'{first}' cannot be compared with itself", mend="Name two models.")
    coreset = picked(registry, manifest)
    looked_at, wanted = coreset, coreset.wanted
    if pool is not None:
        looked_at, wanted = all_picked(registry, coreset, pool), pool
    matrix = read_matrix(registry, wanted, models=(first, second), metric=metric, run=run)
    seen = np.isfinite(matrix.scores)
    both = seen.all(axis=1)
    if not both.any():
        raise _nothing_shared(registry, matrix, wanted)
    targets = tuple(_targets(looked_at, matrix.scores[both, 0] - matrix.scores[both, 1], looked_at.groups[both], level))
    notes = [*matrix.notes, *_left_out(matrix, wanted, "picks" if pool is None else "prompts")]
    if targets[0].borrowed > 0:
        notes.append(f"{100 * targets[0].borrowed:.1f} % of the suite is borrowed; no interval can vouch for that part")
    if pool is None and len(everywhere(registry, coreset, matrix)) == 2:
        notes.append("both have scores on nearly all prompts: --all compares on these and leaves little to estimate")
    return Comparison(
        coreset_id=manifest.coreset_id,
        first=first,
        second=second,
        level=level,
        targets=targets,
        one_sided=int((seen.any(axis=1) & ~both).sum()),
        unscored=int((~seen.any(axis=1)).sum()),
        notes=tuple(notes),
        everywhere=pool is not None,
    )


def _nothing_shared(registry: Registry, matrix: ScoreMatrix, wanted: Wanted) -> BenchcoreError:
    first, second = matrix.models
    told = _by_different_metrics(matrix, wanted)
    if told is not None:
        return BenchcoreError(
            f"'{first}' and '{second}' share {told}",
            where=registry.root,
            mend="--metric chooses one that both have; where there is none, score one of them as the other was.",
        )
    counts = [f"{int(count):,}" for count in np.isfinite(matrix.scores).sum(axis=0)]
    return BenchcoreError(
        f"'{first}' and '{second}' have no pick in common ({' and '.join(counts)} picks with scores)",
        where=registry.root,
        mend=". ".join((*matrix.notes, "")).strip() or None,
    )


def _left_out(matrix: ScoreMatrix, wanted: Wanted, what: str) -> Iterator[str]:
    """Why picks or prompts, whatever is looked at, do not count."""
    told = _by_different_metrics(matrix, wanted)
    if told is not None:
        yield f"left out: {told} (--metric)"
    lacking = ~(np.isfinite(matrix.scores) | matrix.uncounted)
    if lacking.any():
        counts = [f"{name} {int(count):,}" for name, count in zip(matrix.models, lacking.sum(axis=0), strict=True)]
        out = int(lacking.any(axis=1).sum())
        yield f"{out:,} of {len(lacking):,} {what} are left out, without a score ({', '.join(counts)})"


def _by_different_metrics(matrix: ScoreMatrix, wanted: Wanted) -> str | None:
    """How many prompts both have scores on, but not both by the metric that counts; None where there are none."""
    rows = np.flatnonzero((np.isfinite(matrix.scores) | matrix.uncounted).all(axis=1) & matrix.uncounted.any(axis=1))
    if not len(rows):
        return None
    metrics: set[str] = set()
    for benchmark in {wanted.benchmark[row] for row in rows.tolist()}:
        others = (name for own in matrix.other_metrics.values() for name in own.get(benchmark, ()))
        metrics.update(others, [matrix.metrics[benchmark]] if benchmark in matrix.metrics else [])
    return f"{len(rows):,} picks, but under different metrics ({', '.join(sorted(metrics))})"


def _targets(
    coreset: Picked, differences: NDArray[np.float64], groups: NDArray[np.int64], level: float
) -> list[TargetDifference]:
    weights = lent_weights(coreset, groups)
    found = []
    for target, members in coreset.targets.items():
        own = weights.get(target, np.zeros(len(groups)))
        rows = own > 0
        basis = (target, int(rows.sum()), effective(own), coreset.borrowed(members, groups))
        known = coreset.complete(members, groups)
        difference = _difference(coreset, differences, groups, own, level) if enough(own) or known else None
        if difference is None:
            found.append(TargetDifference(*basis, None, None, None, coreset.kind, None))
            continue
        found.append(
            TargetDifference(
                *basis,
                estimate=difference.estimate,
                low=difference.low,
                high=difference.high,
                kind="exact" if known else "design" if coreset.drawn else "model",
                further=_further(difference, int(rows.sum())),
            )
        )
    return found


def _difference(
    coreset: Picked,
    differences: NDArray[np.float64],
    groups: NDArray[np.int64],
    weights: NDArray[np.float64],
    level: float,
) -> Difference:
    rows = weights > 0
    shares = np.bincount(groups, weights, len(coreset.sizes)).astype(np.float64)
    return paired_difference(differences[rows], groups[rows], coreset.sizes, shares, level=level)


def _further(difference: Difference, rows: int) -> int | None:
    if difference.settled:
        return 0
    return None if difference.settled_at is None else max(difference.settled_at - rows, 1)
