"""The order of picks over all shards: local rounds, merges level by level, and the better of each and its parts."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed import checkpoints
from benchcore.distributed.crew import Crew
from benchcore.distributed.merge import MergedObjective, rows_of
from benchcore.distributed.on_actors.coverage import value
from benchcore.distributed.on_actors.local import Given, local_greedy
from benchcore.distributed.plan import Merge, Plan
from benchcore.methods.problem import Problem
from benchcore.progress import progress
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry
from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.constraints.rounds import Rounds, follows_rounds
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.optimizers.result import Greedy

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Order:
    """How to order a pool over its shards.

    Attributes:
        crew: workers that hold the shards.
        plan: shards and merges.
        problem: the pool; its `k` is the depth, how many picks are ordered.
        centre: shared reference to the centre.
        registry: where finished pieces are kept.
        key: hash of everything that the order depends on.
    """

    crew: Crew
    plan: Plan
    problem: Problem
    centre: Any
    registry: Registry
    key: str

    def find(self) -> Greedy:
        """The order: read when it is finished already, else computed and kept. Picks are pool positions."""
        known = checkpoints.load(self.registry, self.key)
        if known is not None:
            log.info("select: the order of %d picks is there already", len(known.order))
            return known
        found = self._local_rounds()
        for level, merges in enumerate(self.plan.levels):
            found = [self._merge(level, merge, [found[child] for child in merge.children]) for merge in merges]
        checkpoints.save(self.registry, self.key, found[0])
        return found[0]

    def _local_rounds(self) -> list[Greedy]:
        """Each shard's own picks beyond the includes; finished shards are read."""
        shards = self.plan.shards
        keys = [digest("local", self.key, number, shard.buckets) for number, shard in enumerate(shards)]
        done = {number: checkpoints.load(self.registry, key) for number, key in enumerate(keys)}
        further = self.problem.k - len(self.problem.include)
        given = self.crew.share(Given(rows_of(self.crew, self.centre, self.problem.include), self.problem.given))
        calls = {
            number: self.crew.begin(number, local_greedy, self.centre, further, given)
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

    def _merge(self, level: int, merge: Merge, parts: list[Greedy]) -> Greedy:
        """The picks beyond the includes of some shards or merges, as picked again from all of theirs."""
        last = level == len(self.plan.levels) - 1
        key = digest("merge", self.key, level, merge.shards)
        known = None if last else checkpoints.load(self.registry, key)
        if known is not None:
            return known
        found = self._merged(merge, parts)
        if last:
            return found
        beyond = len(self.problem.include)
        found = Greedy(found.order[beyond:], found.gains[beyond:])
        checkpoints.save(self.registry, key, found)
        return found

    def _merged(self, merge: Merge, parts: list[Greedy]) -> Greedy:
        candidates = np.unique(np.concatenate([self.problem.include, *(picks.order for picks in parts)]))
        rows = rows_of(self.crew, self.centre, candidates)
        objective = MergedObjective(self.crew, self.centre, merge.shards, rows)
        given = np.searchsorted(candidates, self.problem.include)
        further = self.problem.k - len(given)
        available = self.problem.available[candidates]
        rounds = Rounds(self.problem.turns[candidates], available, further, self.problem.given)
        with progress("merge", self.problem.k, "picks") as advance:
            merged = naive_greedy(objective, rounds, given, advance=advance)
        best = replace(merged, order=candidates[merged.order])
        return best if len(parts) == 1 else self._better_of(merge, best, parts)

    def _better_of(self, merge: Merge, merged: Greedy, parts: list[Greedy]) -> Greedy:
        """The merged order, unless one of its parts' is allowed and worth more on all rows of the merge."""
        best, most = merged.order, float(merged.gains.sum())
        for child, picks in zip(merge.children, parts, strict=True):
            order = np.concatenate([self.problem.include, picks.order])
            if len(order) < len(merged.order) or not self._allowed(picks):
                continue
            rows = rows_of(self.crew, self.centre, order)
            worth = sum(self.crew.ask_all(value, self.centre, merge.shards, rows))
            if worth > most:
                log.info("select: the picks of part %d are worth more than the merged ones", child)
                best, most = order, worth
        return merged if best is merged.order else self._replayed(merge, best)

    def _allowed(self, picks: Greedy) -> bool:
        return follows_rounds(picks.order, self.problem.turns, self.problem.available, self.problem.given)

    def _replayed(self, merge: Merge, order: NDArray[np.int64]) -> Greedy:
        """The gains of a given order on all rows of a merge."""
        rows = rows_of(self.crew, self.centre, order)
        objective = MergedObjective(self.crew, self.centre, merge.shards, rows)
        nothing_else = Cardinality(np.zeros(len(order), bool), 0)
        return replace(naive_greedy(objective, nothing_else, np.arange(len(order))), order=order)
