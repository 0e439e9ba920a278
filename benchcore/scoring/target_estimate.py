"""What is known of one model's score for one target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["design", "audit", "model", "exact"]


@dataclass(frozen=True)
class TargetEstimate:
    """The estimate of one model for one target, with what it rests on.

    Attributes:
        model: as in the table `scores`.
        target: `suite`, `category:...` or `benchmark:...`.
        prompts: scored picks that count in it.
        missing: picks that count in it and have no score of this model.
        n_eff: (sum w)^2 / sum w^2 of the weights of the scored picks.
        borrowed: share of the target's weight, in [0, 1], that benchmarks with scores carry for those without.
        estimate: in [0, 1]; None where it is not estimable.
        low: lower end of the interval, None likewise.
        high: upper end.
        kind: where the interval comes from: `design` (the draw of all picks), `audit` (the draw of the audit slice),
            `model` (as if the picks had been drawn; for deterministic picks nothing else is known), `exact` (every
            prompt of the target has a score: nothing is estimated).
        estimator: name in `benchcore.estimation.ESTIMATORS`.
        reason: why it is not estimable; None where it is.
        needed_k: size of a coreset that would make it estimable; None where it is, or where none would.
    """

    model: str
    target: str
    prompts: int
    missing: int
    n_eff: float
    borrowed: float
    estimate: float | None
    low: float | None
    high: float | None
    kind: Kind
    estimator: str
    reason: str | None = None
    needed_k: int | None = None
