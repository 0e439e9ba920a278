"""Which picks a selection over shards may make: the same rules for a shard, for a merge and for the whole pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.config import SelectSection
from benchcore.distributed.ways import SHARDED
from benchcore.errors import UsageError
from benchcore.methods.names import require_known
from benchcore.methods.problem import Problem
from benchcore.submodular.constraints.constraint import Cardinality, Constraint
from benchcore.submodular.constraints.knapsack import Counting, Knapsack
from benchcore.submodular.constraints.quotas import Quotas
from benchcore.submodular.constraints.rounds import Rounds

Groups = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rules:
    """What picks must keep to; small, so that it goes to every worker.

    A part of the pool (a shard, the candidates of a merge) keeps to the same rules as far as it can: where it has too
    few of a group for its quota, it hands over all that it has. So the parts together always have what the whole needs:
    either one of them hands over a complete set, or each hands over all that the maxima allow.

    Attributes:
        further: picks beyond the includes.
        counts: (groups,) how many includes each group has.
        quotas: (groups,) least and (groups,) most picks, includes among them, in place of balanced rounds; None for
            rounds, which are plain cardinality where there is one group.
        budget: largest sum of costs, the includes' among them; None where nothing costs.
        spent: what the includes cost.
        picks: the number of picks, where it may bind before the budget does.
    """

    further: int
    counts: Groups
    quotas: tuple[Groups, Groups] | None = None
    budget: float | None = None
    spent: float = 0.0
    picks: int | None = None

    def constraint(
        self, groups: Groups, available: NDArray[np.bool_], costs: NDArray[np.float64] | None = None
    ) -> Constraint:
        """A constraint at its start, of the pool or of a part of it.

        Args:
            groups: (n,) group number of each candidate.
            available: (n,) which of them may be picked; includes may not.
            costs: (n,) their prices, where there is a budget.
        """
        counting = self._counting(groups, available)
        if self.budget is None or costs is None:
            return counting
        if not (available & (costs <= self.budget - self.spent)).any():
            return Cardinality(available, 0)
        return Knapsack(counting, costs, self.budget, self.spent, self.picks)

    def _counting(self, groups: Groups, available: NDArray[np.bool_]) -> Counting:
        if self.quotas is None:
            return Rounds(groups, available, self.further, self.counts)
        low, high = self.quotas
        left = np.bincount(groups[available], minlength=len(low))
        most = int(np.minimum(high - self.counts, left).clip(min=0).sum())
        reachable = np.minimum(low, left + self.counts)
        return Quotas(groups, available, min(self.further, most), reachable, high, counts=self.counts)

    def allow(
        self,
        order: NDArray[np.int64],
        groups: Groups,
        available: NDArray[np.bool_],
        costs: NDArray[np.float64] | None = None,
    ) -> bool:
        """Say whether an order of picks beyond the includes is complete, and each was allowed when it was made."""
        constraint = self.constraint(groups, available, costs)
        for pick in order:
            if not constraint.allowed()[pick]:
                return False
            constraint.take(int(pick))
        return self.budget is not None or not constraint.allowed().any()


def rules_of(section: SelectSection, problem: Problem) -> Rules:
    """The rules of a configuration for all `problem.k` picks.

    Raises:
        UsageError: a quota names what is not there, the quotas cannot be met, or the budget is too small; with names
            or figures.
    """
    further, counts = problem.k - len(problem.include), problem.given
    if section.budget is not None and problem.costs is not None:
        return _within(section.budget.tokens, problem.costs, problem)
    if not section.constraint.quotas:
        return Rules(further, counts)
    names = np.unique(problem.groups).tolist()
    low, high = np.zeros(len(names), np.int64), np.full(len(names), problem.n, np.int64)
    for name, bounds in section.constraint.quotas.items():
        require_known(name, names, section.constraint.over, _QUOTAS)
        least, most = bounds
        place = names.index(name)
        low[place] = 0 if least is None else min(least, problem.n + 1)  # beyond these nothing changes
        high[place] = problem.n if most is None else min(most, problem.n)
    try:
        Quotas(problem.turns, problem.available, further, low, high, counts=counts, names=names)
    except ValueError as error:
        raise UsageError(str(error), where=_QUOTAS) from None
    return Rules(further, counts, (low, high))


def _within(budget: float, costs: NDArray[np.float64], problem: Problem) -> Rules:
    """The rules of a budget beside rounds.

    Raises:
        UsageError: the includes cost more, or nothing fits.
    """
    further, available = problem.k - len(problem.include), problem.available
    spent = float(costs[problem.include].sum())
    picks = further if further < int(available.sum()) else None
    try:
        rounds = Rounds(problem.turns, available, further, problem.given)
        Knapsack(rounds, costs, budget, spent, picks)
    except ValueError as error:
        raise UsageError(f"{error} (in tokens)", where=_BUDGET) from None
    return Rules(further, problem.given, None, budget, spent, picks)


def is_nested(section: SelectSection) -> bool:
    """Whether the picks of a smaller k are the first of those of a larger one, as far as the constraint goes."""
    return not (section.constraint.quotas or section.budget)


def require_known_to(method: str, section: SelectSection) -> None:
    """Refuse what a method does not keep to.

    Raises:
        UsageError: the configuration has quotas, a budget, neighbours or a query, and what does not go with it.
    """
    query = "toward" if section.toward else "away" if section.away else None
    if query is not None and method != SHARDED:
        raise UsageError(
            f"'{method}' has no query form",
            where=f"select.{query}",
            mend=f"Set select.method: {SHARDED}; other objectives with a query are benchcore.select's, on an array.",
        )
    if section.neighbours is not None and method != SHARDED:
        raise UsageError(
            f"'{method}' merges nothing, and neighbours are what merges look at",
            where="select.neighbours",
            mend=f"Set select.method: {SHARDED}, or leave the neighbours out.",
        )
    if section.budget is not None and (method != SHARDED or section.constraint.quotas or section.audit):
        beside = f"'{method}'" if method != SHARDED else "quotas" if section.constraint.quotas else "an audit slice"
        raise UsageError(
            f"a budget of tokens does not go together with {beside}",
            where=_BUDGET,
            mend=f"It goes with select.method: {SHARDED}, alone or in balanced rounds.",
        )
    if not section.constraint.quotas:
        return
    if method != SHARDED:
        raise UsageError(
            f"'{method}' knows balanced rounds, not quotas",
            where=_QUOTAS,
            mend=f"Set select.method: {SHARDED}, or leave the quotas out.",
        )
    if section.audit:
        raise UsageError(
            "an audit slice is drawn in balanced rounds, and there are quotas",
            where="select.audit",
            mend="Leave one of them out.",
        )


def require_nested(section: SelectSection) -> None:
    """Refuse to order the picks of all k at once where each k has picks of its own.

    Raises:
        UsageError: the configuration has quotas or a budget.
    """
    if not is_nested(section):
        raise UsageError(
            "with quotas or a budget each k has picks of its own, and there is no order of all to plan with",
            where=_QUOTAS if section.constraint.quotas else _BUDGET,
            mend="Leave them out of the plan, or run `benchcore select`.",
        )


_QUOTAS = "select.constraint.quotas"
_BUDGET = "select.budget"
