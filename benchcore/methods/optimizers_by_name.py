"""Optimizers by name: from an objective and limits to picks with their certificate."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchcore.errors import UsageError
from benchcore.methods.limits import Limits
from benchcore.methods.names import require_known
from benchcore.methods.picks import Bounds
from benchcore.submodular.certificates import certify
from benchcore.submodular.constraints.constraint import Constraint
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.optimizers.lazy import with_landmarks_beyond
from benchcore.submodular.optimizers.result import Advance, Greedy, Landmark

log = logging.getLogger(__name__)

OPTIMIZERS = ("lazy", "naive", "stochastic", "threshold", "sieve_streaming")


@dataclass(frozen=True)
class Plan:
    """How to optimize.

    Attributes:
        optimizer: a name in OPTIMIZERS.
        epsilon: what `stochastic`, `threshold` and `sieve_streaming` may give away.
        seed: of `stochastic`.
        cover: share of the value of all rows at which to stop, or None.
        sweeps: passes of swaps over the finished picks.
    """

    optimizer: str = "lazy"
    epsilon: float = 0.1
    seed: int = 0
    cover: float | None = None
    sweeps: int = 0


def require_plan(plan: Plan, limits: Limits) -> None:
    """Refuse what does not go together.

    Raises:
        UsageError: says what would.
    """
    require_known(plan.optimizer, OPTIMIZERS, "optimizer", "optimizer")
    if plan.optimizer != "lazy" and (limits.costs is not None or plan.cover is not None):
        what = "a budget" if limits.costs is not None else "cover"
        raise UsageError(f"{what} needs the optimizer lazy, not {plan.optimizer}", where="optimizer")
    if plan.cover is not None and limits.costs is not None:
        raise UsageError("cover counts picks and a budget their prices", where="cover", mend="Leave out one of them.")
    if plan.cover is not None and not 0 <= plan.cover <= 1:
        raise UsageError(f"the share to reach must be from 0 to 1, got {plan.cover}", where="cover")
    if plan.sweeps < 0 or (plan.sweeps and (limits.costs is not None or plan.cover is not None)):
        raise UsageError("swaps need 0 or more sweeps, and neither a budget nor cover", where="swaps")
    grouped = limits.quotas is not None or (limits.balanced and len(limits.pool.names) > 1)
    if plan.optimizer == "sieve_streaming" and grouped:
        raise UsageError(
            "sieve_streaming knows only a number of picks",
            where="optimizer",
            mend="Switch rounds off (balanced=False, --no-balance) and give no quotas.",
        )


def optimize(
    plan: Plan,
    objective: Objective,
    limits: Limits,
    constraint: Callable[[], Constraint],
    advance: Advance | None = None,
) -> tuple[Greedy, Bounds | None]:
    """Pick, and bound what could have been picked.

    Args:
        plan: how.
        objective: at the empty set.
        limits: what the constraint is made of.
        constraint: makes it at its start.
        advance: told of every pick, to show progress.

    Raises:
        ValueError: the objective or a parameter does not suit the optimizer.
    """
    run, fewest = _run(plan, objective, limits, constraint, advance)
    if plan.sweeps:
        run = _refined(run, objective.fresh(), limits, plan.sweeps)
    elif plan.optimizer == "lazy" and plan.cover is None and limits.costs is None:
        run = with_landmarks_beyond(run, objective)
    certificate = certify(run, objective, constraint(), len(limits.include))
    if certificate is None:
        return run, None
    bound, ratio = certificate.bound, certificate.ratio
    if plan.cover is not None and len(run.order):  # among sets as small, not among all
        bound = float(certificate.prefixes[-1])
        ratio = float(run.gains.cumsum()[-1]) / bound if bound > 0 else 1.0
    prefixes = tuple((certificate.prefixes / objective.unit).tolist())
    return run, Bounds(bound / objective.unit, ratio, "exact", prefixes, fewest)


def _run(
    plan: Plan,
    objective: Objective,
    limits: Limits,
    constraint: Callable[[], Constraint],
    advance: Advance | None,
) -> tuple[Greedy, int | None]:
    include, further = limits.include, limits.k - len(limits.include)
    if plan.cover is not None:
        from benchcore.submodular.optimizers.cover import cover

        covered = cover(objective, constraint, plan.cover, include, advance=advance)
        if not covered.reached:
            log.warning("cover: %d picks, all that are allowed, reach less than %g", len(covered.run.order), plan.cover)
        return covered.run, covered.fewest
    if limits.costs is not None:
        from benchcore.submodular.optimizers.knapsack import knapsack_greedy

        return knapsack_greedy(objective, constraint, include, advance=advance), None
    if plan.optimizer == "lazy":
        from benchcore.submodular.optimizers.lazy import lazy_greedy

        return lazy_greedy(objective, constraint(), include, advance=advance), None
    if plan.optimizer == "naive":
        from benchcore.submodular.optimizers.naive import naive_greedy

        run = naive_greedy(objective, constraint(), include, advance=advance)
    elif plan.optimizer == "stochastic":
        from benchcore.submodular.optimizers.stochastic import stochastic_greedy

        run = stochastic_greedy(
            objective,
            constraint(),
            k_expected=max(further, 1),
            epsilon=plan.epsilon,
            seed=plan.seed,
            include=include,
        )
    elif plan.optimizer == "threshold":
        from benchcore.submodular.optimizers.threshold import threshold_greedy

        run = threshold_greedy(objective, constraint(), plan.epsilon, include)
    else:
        from benchcore.submodular.optimizers.sieve_streaming import sieve_streaming

        run = sieve_streaming(objective, limits.available, further, plan.epsilon, include)
    return _with_landmark(run, objective), None


def _refined(run: Greedy, objective: Objective, limits: Limits, sweeps: int) -> Greedy:
    from benchcore.submodular.optimizers.swaps import swap_refinement

    grouped = limits.quotas is not None or limits.balanced
    groups = limits.pool.numbers if grouped else None
    fixed = len(limits.include)
    refined = swap_refinement(objective, run.order, limits.available, groups, fixed=fixed, sweeps=sweeps)
    return Greedy(refined.order, refined.gains, run.landmarks + _with_landmark(refined, objective).landmarks)


def _with_landmark(run: Greedy, objective: Objective) -> Greedy:
    """The run with the gains at its end, from which its certificate is made."""
    if math.isinf(objective.slack):
        return run
    bounds = np.zeros(objective.n)
    rest = np.setdiff1d(np.arange(objective.n), run.order)
    bounds[rest] = objective.gains(rest) if rest.size else 0.0
    return Greedy(run.order, run.gains, (*run.landmarks, Landmark(objective.value, bounds)))
