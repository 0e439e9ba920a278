"""Cover: as few picks as reach a share of what all candidates together are worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.result import NONE, Advance, Greedy

_ROUNDING = 1e-12  # share of the target that sums of inexact gains may miss


@dataclass(frozen=True, eq=False)
class Cover:
    """Picks that reach a target, and how many are needed at least.

    Attributes:
        run: the picks; includes come first.
        target: value that was to be reached, in whole units of the objective.
        reached: whether the constraint allowed it.
        fewest: no set of fewer picks (includes among them) that the constraint allows reaches the target.
    """

    run: Greedy
    target: float
    reached: bool
    fewest: int


def cover(
    objective: Objective,
    constraint: Callable[[], Constraint],
    share: float,
    include: NDArray[np.int64] = NONE,
    *,
    advance: Advance | None = None,
) -> Cover:
    """Pick greedily until the value is a share of the value of all candidates (Wolsey 1982).

    At most H(largest gain) times the fewest picks for a whole-number monotone submodular objective and cardinality;
    `fewest` says how far it is at most this time, from the certificate of every prefix: while the bound on what j
    picks are worth is below the target, more than j are needed. Prefixes are nested: a smaller share needs the first
    picks of a larger one (except under quotas).

    Args:
        objective: at the empty set; holds all picks at the end.
        constraint: makes the constraint at its start; without costs.
        share: in [0, 1].
        include: candidates that come first, whatever their gains, in this order.
        advance: told of every pick, to show progress.

    Raises:
        ValueError: the share is out of range, the objective not monotone, or the constraint has costs.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"the share to reach must be in [0, 1], got {share}")
    if not objective.monotone:
        raise ValueError("cover needs a monotone objective: of others more candidates may be worth less")
    if constraint().costs is not None:
        raise ValueError("cover counts picks, not costs: give a constraint without a budget")
    target = share * objective.total() * (1 - (_ROUNDING if objective.slack else 0))
    run = lazy_greedy(objective, constraint(), include, target=target, advance=advance)
    certificate = certify(run, objective, constraint(), len(include))
    fewest = len(include)
    if certificate is not None:
        bounds = np.concatenate([[0.0], certificate.prefixes])  # by number of picks
        fewest = max(fewest, 1 + int(np.flatnonzero(bounds < target).max(initial=-1)))
    return Cover(run, target, bool(objective.value >= target), fewest)
