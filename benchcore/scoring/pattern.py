"""Models with scores on the same picks, and what can be said of them for a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.intervals import Intervals, stratified_intervals
from benchcore.estimation.panel_intervals import aipw_intervals
from benchcore.estimation.weights import target_weights
from benchcore.scoring.matrix import Scores
from benchcore.scoring.panel import Panel
from benchcore.scoring.picked import LEAST, Picked, effective, enough
from benchcore.scoring.target_estimate import Kind, TargetEstimate

Indices = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class _Basis:
    """What estimates rest on, the same for all models of a pattern; fields as in TargetEstimate."""

    prompts: int
    missing: int
    n_eff: float
    borrowed: float
    reason: str | None
    needed_k: int | None


@dataclass(frozen=True, eq=False)
class Pattern:
    """Models with scores on the same picks.

    Attributes:
        coreset: of the picks.
        seen: (k,) which of them are scored.
        scores: (scored picks, models), none missing.
        level: how often intervals are to hold the true score.
        panel: that estimates lean on, or None.
    """

    coreset: Picked
    seen: NDArray[np.bool_]
    scores: Scores
    level: float
    panel: Panel | None = None

    @cached_property
    def picks(self) -> Indices:
        """Numbers of the scored picks."""
        return np.flatnonzero(self.seen)

    @cached_property
    def groups(self) -> Indices:
        """Their benchmarks."""
        return self.coreset.groups[self.picks]

    @cached_property
    def weights(self) -> Mapping[str, Weights]:
        """Target -> weights of the scored picks, as if only they had been picked."""
        return lent_weights(self.coreset, self.groups)

    @cached_property
    def audit(self) -> NDArray[np.bool_]:
        """Which of the scored picks are of the audit."""
        return self.coreset.audit[self.picks]

    @cached_property
    def audit_weights(self) -> Mapping[str, Weights]:
        """Target -> weights of the scored picks of the audit, as if only they had been picked."""
        return lent_weights(self.coreset, self.groups[self.audit])

    def estimates(self, target: str, members: Indices, names: Sequence[str]) -> list[TargetEstimate]:
        """One for each model.

        Args:
            target: its name.
            members: numbers of the benchmarks that it is made of.
            names: of the models.
        """
        basis = self._basis(target, members)
        if basis.reason is None:
            kind, ends = self._ends(target, members)
            spans: list[tuple[float | None, float | None, float | None]] = [
                (float(estimate), float(low), float(high)) for estimate, low, high in zip(*ends, strict=True)
            ]
        else:
            kind, spans = self.coreset.kind, [(None, None, None)] * len(names)
        return [
            TargetEstimate(
                model=name,
                target=target,
                prompts=basis.prompts,
                missing=basis.missing,
                n_eff=basis.n_eff,
                borrowed=basis.borrowed,
                estimate=span[0],
                low=span[1],
                high=span[2],
                kind=kind,
                estimator="macro" if self.panel is None else "aipw",
                reason=basis.reason,
                needed_k=basis.needed_k,
            )
            for name, span in zip(names, spans, strict=True)
        ]

    def _basis(self, target: str, members: Indices) -> _Basis:
        coreset, weights = self.coreset, self.weights.get(target, np.zeros(0))
        picked, scored = (int(np.isin(groups, members).sum()) for groups in (coreset.groups, self.groups))
        n_eff = effective(weights)
        borrowed = coreset.borrowed(members, self.groups)
        if enough(weights) or self.coreset.complete(members, self.groups):
            return _Basis(int((weights > 0).sum()), picked - scored, n_eff, borrowed, None, None)
        reason = f"{n_eff:.1f} effective picks are fewer than {LEAST:.0f}"
        if not scored:
            reason = "its picks have no score" if picked else "no pick of it"
        needed = coreset.needed_k(members)
        further = needed if needed is not None and needed > coreset.k else None
        return _Basis(int((weights > 0).sum()), picked - scored, n_eff, borrowed, reason, further)

    def _ends(self, target: str, members: Indices) -> tuple[Kind, tuple[Scores, Scores, Scores]]:
        """Kind of the intervals; estimates, lower and upper ends, each (models,)."""
        everything = np.ones(len(self.picks), np.bool_)
        if self.coreset.complete(members, self.groups):
            estimate = self._stratified(everything, self.weights[target]).estimate
            return "exact", (estimate, estimate, estimate)
        found = self._intervals(members, everything, self.weights[target])
        if not self.coreset.drawn and self._audited(target, members):
            drawn = self._intervals(members, self.audit, self.audit_weights[target])
            # Widened to the estimate where it lies outside: as sure, and no estimate stands outside of its interval.
            ends = np.minimum(drawn.low, found.estimate), np.maximum(drawn.high, found.estimate)
            return "audit", (found.estimate, *ends)
        return "design" if self.coreset.drawn else "model", (found.estimate, found.low, found.high)

    def _audited(self, target: str, members: Indices) -> bool:
        """Whether the audit's picks suffice: LEAST of them, and some in every benchmark that has scores."""
        if not self.coreset.audited or not self.audit.any():
            return False
        scored = np.intersect1d(self.groups, members)
        everywhere = bool(np.isin(scored, self.groups[self.audit]).all())
        return everywhere and enough(self.audit_weights[target])

    def _intervals(self, members: Indices, rows: NDArray[np.bool_], weights: Weights) -> Intervals:
        if self.panel is None:
            return self._stratified(rows, weights)
        kept = np.flatnonzero(rows)[np.isin(self.groups[rows], members)]
        sample = self.panel.sample(self.coreset, members, self.picks[kept])
        return aipw_intervals(sample, self.scores[kept], level=self.level)

    def _stratified(self, rows: NDArray[np.bool_], weights: Weights) -> Intervals:
        kept = weights > 0
        groups, sizes = self.groups[rows], self.coreset.sizes
        shares = np.bincount(groups, weights, len(sizes)).astype(np.float64)
        return stratified_intervals(self.scores[rows][kept], groups[kept], sizes, shares, level=self.level)


def lent_weights(coreset: Picked, groups: Indices) -> Mapping[str, Weights]:
    """Weights for all targets of picks of some benchmarks, as if only they had been picked.

    Args:
        coreset: the suite.
        groups: (picks,) numbers of their benchmarks.
    """
    if not len(groups):
        return {}
    return target_weights([coreset.benchmarks[group].name for group in groups], coreset.benchmarks).targets
