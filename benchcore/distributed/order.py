"""The order of picks over all shards: local rounds, merges level by level, and the better of each and its parts."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed import checkpoints
from benchcore.distributed.constraints import Rules
from benchcore.distributed.crew import Crew
from benchcore.distributed.merge import MergedObjective, increases, rows_of
from benchcore.distributed.on_actors.local import Given, local_greedy
from benchcore.distributed.on_actors.merging import Merging
from benchcore.distributed.on_actors.query import Query
from benchcore.distributed.plan import Merge, Plan, merge_step
from benchcore.distributed.reached import Reached
from benchcore.distributed.timings import Timings, timed
from benchcore.methods.problem import Problem
from benchcore.progress import progress
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.result import Greedy

log = logging.getLogger(__name__)

_Columns = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64] | None]

_PICKS_BETWEEN_CHECKPOINTS = 16  # of a merge under way


def shard_keys(local: str, plan: Plan) -> list[str]:
    """Names of the shards' own picks, which together are named so."""
    return [digest("local", local, number, shard.buckets) for number, shard in enumerate(plan.shards)]


def merge_key(order: str, level: int, merge: Merge) -> str:
    """Name of an inner merge's picks in an order that is named so."""
    return digest("merge", order, level, merge.shards)


def inner_keys(order: str, plan: Plan) -> list[str]:
    """Names of all inner merges' picks in an order that is named so."""
    return [merge_key(order, level, merge) for level, merges in enumerate(plan.levels[:-1]) for merge in merges]


@dataclass(frozen=True, eq=False)
class Found:
    """An order.

    Attributes:
        picks: pool positions, and gains on all rows below.
        reached: prompts by the first pick among their nearest candidates, where the plan has neighbours and the order
            is the last merge's.
    """

    picks: Greedy
    reached: Reached | None = None


@dataclass(frozen=True, eq=False)
class Order:
    """How to order a pool over its shards.

    Attributes:
        crew: workers that hold the shards.
        plan: shards and merges.
        problem: the pool; its `k` is the depth, how many picks are ordered.
        rules: what the picks keep to.
        centre: shared reference to the centre.
        registry: where finished pieces are kept.
        key: hash of everything that the order depends on.
        local_key: hash of everything that the shards' own picks depend on.
        memory: bytes of pairs that a merge may keep over all workers.
        query: bounds what coverage counts; None without one.
    """

    crew: Crew
    plan: Plan
    problem: Problem
    rules: Rules
    centre: Any
    registry: Registry
    key: str
    local_key: str
    memory: int
    query: Query | None = None

    def find(self, timings: Timings) -> Found:
        """The order: read when it is finished already, else computed and kept. Picks are pool positions.

        Args:
            timings: is told how long the local rounds and each level of merges take.
        """
        known = checkpoints.load(self.registry, self.key)
        reached = None if self.plan.neighbours is None else Reached.load(self.registry, self.key)
        if known is not None and (reached is not None or self.plan.neighbours is None):
            log.info("select: the order of %d picks is there already", len(known.order))
            return Found(known, reached)
        with timed("local", timings):
            found = [Found(picks) for picks in self._local_rounds()]
        for level, merges in enumerate(self.plan.levels):
            with timed(merge_step(level), timings):
                found = [
                    self._merge(level, number, [found[child].picks for child in merge.children])
                    for number, merge in enumerate(merges)
                ]
        return found[0]

    def _local_rounds(self) -> list[Greedy]:
        """Each shard's own picks beyond the includes; finished shards are read."""
        keys = shard_keys(self.local_key, self.plan)
        done = {number: checkpoints.load(self.registry, key) for number, key in enumerate(keys)}
        given = self.crew.share(Given(rows_of(self.crew, self.centre, self.problem.include), self.rules, self.query))
        calls = {
            number: self.crew.begin(number, local_greedy, self.centre, given)
            for number, known in done.items()
            if known is None
        }
        with progress("local greedy", len(keys), "shards") as advance:
            advance(len(keys) - len(calls))
            for number, picks in self.crew.finished(calls):
                checkpoints.save(self.registry, keys[number], picks)
                done[number] = picks
                advance(1)
        return [picks for _, picks in sorted(done.items()) if picks is not None]

    def _merge(self, level: int, number: int, parts: list[Greedy]) -> Found:
        """The picks of some shards or merges, as picked again from all of theirs; the last merge's after includes."""
        merges, last = self.plan.levels[level], level == len(self.plan.levels) - 1
        if len(parts) == 1 and not last:  # picked on the same rows already
            return Found(parts[0])
        key = self.key if last else merge_key(self.key, level, merges[number])
        known = None if last else checkpoints.load(self.registry, key)
        if known is not None:
            return Found(known)
        where = f", level {level + 1} of {len(self.plan.levels)}" if len(self.plan.levels) > 1 else ""
        name = f"merge {number + 1} of {len(merges)}{where}" if where else "merge"
        found = self._merged(merges[number], parts, name, digest("made", key))
        if not last:
            beyond = len(self.problem.include)
            found = Found(Greedy(found.picks.order[beyond:], found.picks.gains[beyond:]))
        if found.reached is not None:
            found.reached.save(self.registry, key)
        checkpoints.save(self.registry, key, found.picks)
        for made in (digest("made", key), digest("plain", digest("made", key))):
            checkpoints.remove(self.registry, made)
        return found

    def _merged(self, merge: Merge, parts: list[Greedy], name: str, key: str) -> Found:
        """The greedy order of all that the parts hand over, or of a part, with all rows below to be represented."""
        if len(parts) == 1:  # the only shard: picked on all rows already
            return Found(self._measured(merge, np.concatenate([self.problem.include, parts[0].order])))
        candidates = np.unique(np.concatenate([self.problem.include, *(picks.order for picks in parts)]))
        merging = Merging(
            digest(key, candidates.tolist()),
            merge.shards,
            sum(len(self.plan.shards[shard].positions) for shard in merge.shards),
            rows_of(self.crew, self.centre, candidates),
            self.memory,
            self.query,
            self.plan.neighbours,
        )
        best, objective = self._picked_again(merge, merging, candidates, name, key)
        if self.rules.budget is not None:
            other, objective = self._picked_again(merge, merging, candidates, name, digest("plain", key), by_cost=False)
            best = other if other.gains.sum() > best.gains.sum() else best
        best = self._better_of(merge, objective, candidates, best, parts)
        reached = None
        if self.plan.neighbours is not None and merge in self.plan.levels[-1]:
            reached = objective.reached(np.searchsorted(candidates, best.order))
        objective.end()
        return Found(best, reached)

    def _picked_again(
        self,
        merge: Merge,
        merging: Merging,
        candidates: NDArray[np.int64],
        name: str,
        key: str,
        *,
        by_cost: bool = True,
    ) -> tuple[Greedy, MergedObjective]:
        """The greedy order of a merge's candidates; by gain per cost where there are costs, unless told not to."""
        made = checkpoints.load(self.registry, key) or self._measured(merge, self.problem.include)
        made = Greedy(np.searchsorted(candidates, made.order), made.gains)
        objective = MergedObjective(self.crew, self.centre, merging, made)
        constraint = self.rules.constraint(*self._columns_of(candidates))
        with progress(name, self.problem.k, "picks", _work_done) as advance:
            keeping = self._keeping(objective, candidates, len(made.order), key, advance)
            merged = lazy_greedy(objective, constraint, made.order, by_cost=by_cost, landmarks=False, advance=keeping)
        picks = Greedy(candidates[merged.order], merged.gains)
        if self.plan.neighbours is not None:  # the gains that chose are on the rows that each candidate is nearest to
            picks = self._measured(merge, picks.order)
        return picks, objective

    def _columns_of(self, rows: NDArray[np.int64]) -> _Columns:
        """The same as `_columns`, of some prompts."""
        groups, available, costs = self._columns
        return groups[rows], available[rows], None if costs is None else costs[rows]

    @cached_property
    def _columns(self) -> _Columns:
        """Groups, what may be picked, and costs: what the rules look at."""
        return self.problem.turns, self.problem.available, self.problem.costs

    def _keeping(
        self,
        objective: MergedObjective,
        candidates: NDArray[np.int64],
        known: int,
        key: str,
        advance: Callable[[int], None],
    ) -> Callable[[int], None]:
        """Keep the picks beyond the known ones now and then, so that the next run goes on from there."""

        def made(picks: int) -> None:
            advance(picks)
            if len(objective.order) > known and len(objective.order) % _PICKS_BETWEEN_CHECKPOINTS == 0:
                picked = objective.picks
                checkpoints.save(self.registry, key, Greedy(candidates[picked.order], picked.gains))

        return made

    def _better_of(
        self,
        merge: Merge,
        objective: MergedObjective,
        candidates: NDArray[np.int64],
        merged: Greedy,
        parts: list[Greedy],
    ) -> Greedy:
        """The merged order, unless one of its parts' is allowed and worth more on all rows of the merge."""
        orders = [np.concatenate([self.problem.include, picks.order]) for picks in parts]
        rivals = [part for part, picks in enumerate(parts) if self._allowed(picks)]
        if not rivals:
            return merged
        values = objective.values([np.searchsorted(candidates, orders[part]) for part in rivals])
        best = int(np.argmax(values))  # the first of equals
        if values[best] <= merged.gains.sum():
            return merged
        log.info("select: the picks of part %d are worth more than the merged ones", merge.children[rivals[best]])
        return self._measured(merge, orders[rivals[best]])

    def _allowed(self, picks: Greedy) -> bool:
        return self.rules.allow(picks.order, *self._columns)

    def _measured(self, merge: Merge, order: NDArray[np.int64]) -> Greedy:
        """An order with its gains on all rows of a merge."""
        if not order.size:
            return Greedy(order, np.zeros(0))
        rows = rows_of(self.crew, self.centre, order)
        return Greedy(order, increases(self.crew, self.centre, merge.shards, rows, self.query))


def _work_done(picks: float) -> float:
    """How much of the work of a merge some picks are: the t-th looks at about one in t of all pairs."""
    return math.log1p(picks)
