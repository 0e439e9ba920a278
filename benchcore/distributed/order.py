"""The order of picks over all shards: local rounds, their merge, and the better of the merge and the best shard."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchcore.distributed import checkpoints
from benchcore.distributed.crew import Crew
from benchcore.distributed.merge import MergedObjective, rows_of
from benchcore.distributed.plan import Shard
from benchcore.distributed.shard_worker import Given
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
        shards: the parts of the pool.
        problem: the pool; its `k` is the depth, how many picks are ordered.
        centre: shared reference to the centre.
        registry: where finished pieces are kept.
        key: hash of everything that the order depends on.
    """

    crew: Crew
    shards: tuple[Shard, ...]
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
        found = self._merged(self._local_rounds())
        checkpoints.save(self.registry, self.key, found)
        return found

    def _local_rounds(self) -> list[Greedy]:
        """Each shard's own picks beyond the includes; finished shards are read."""
        keys = [digest("local", self.key, number, shard.buckets) for number, shard in enumerate(self.shards)]
        done = {number: checkpoints.load(self.registry, key) for number, key in enumerate(keys)}
        further = self.problem.k - len(self.problem.include)
        given = self.crew.share(Given(rows_of(self.crew, self.centre, self.problem.include), self.problem.given))
        calls = {
            number: self.crew.ask_holder(number, "local", self.centre, further, given)
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

    def _merged(self, local: list[Greedy]) -> Greedy:
        candidates = np.unique(np.concatenate([self.problem.include, *(picks.order for picks in local)]))
        rows = rows_of(self.crew, self.centre, candidates)
        objective = MergedObjective(self.crew, self.centre, rows)
        given = np.searchsorted(candidates, self.problem.include)
        further = self.problem.k - len(given)
        available = self.problem.available[candidates]
        rounds = Rounds(self.problem.turns[candidates], available, further, self.problem.given)
        with progress("merge", self.problem.k, "picks") as advance:
            merged = naive_greedy(objective, rounds, given, advance=advance)
        best = replace(merged, order=candidates[merged.order])
        return best if len(local) == 1 else self._better_of(best, local)

    def _better_of(self, merged: Greedy, local: list[Greedy]) -> Greedy:
        """The merged order, unless a shard's own one is allowed and worth more on all prompts."""
        best, value = merged.order, float(merged.gains.sum())
        for number, picks in enumerate(local):
            order = np.concatenate([self.problem.include, picks.order])
            if len(order) < self.problem.k or not self._allowed(picks):
                continue
            worth = sum(self.crew.ask_all("value", self.centre, rows_of(self.crew, self.centre, order)))
            if worth > value:
                log.info("select: the picks of shard %d are worth more than the merged ones", number)
                best, value = order, worth
        return merged if best is merged.order else self._replayed(best)

    def _allowed(self, picks: Greedy) -> bool:
        return follows_rounds(picks.order, self.problem.turns, self.problem.available, self.problem.given)

    def _replayed(self, order: np.ndarray[Any, np.dtype[np.int64]]) -> Greedy:
        """The gains of a given order on all prompts."""
        objective = MergedObjective(self.crew, self.centre, rows_of(self.crew, self.centre, order))
        nothing_else = Cardinality(np.zeros(len(order), bool), 0)
        return replace(naive_greedy(objective, nothing_else, np.arange(len(order))), order=order)
