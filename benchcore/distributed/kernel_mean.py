"""Methods that need the mean of a kernel over all prompts, beyond the pools whose pairs one process can look at.

A seeded, balanced part of the prompts are candidates. The workers measure how similar each is to the whole pool, shard
by shard, which takes time linear in the number of prompts; then the method picks from the candidates in one process.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed import checkpoints
from benchcore.distributed.crew import Crew
from benchcore.distributed.identity import Identity
from benchcore.distributed.on_actors.kernel import Features, KernelShard, Survey, mean_part, survey
from benchcore.distributed.plan import Plan
from benchcore.distributed.pool import Pool
from benchcore.distributed.vectors import Embeddings
from benchcore.distributed.ways import FROM_CANDIDATES, method_of
from benchcore.errors import UsageError
from benchcore.methods.kernel_mean.candidates import (
    Rows,
    drawn_candidates,
    most_picks,
    pick_from,
)
from benchcore.methods.kernel_mean.mean_kernel import PartKernel, sample_positions
from benchcore.methods.kernel_mean.scale import Scale, scale_of, together
from benchcore.methods.problem import Indices, Problem, Selection
from benchcore.methods.unvalued import unvalued
from benchcore.progress import progress, waiting
from benchcore.registry.identity import bucket, digest
from benchcore.registry.root import Registry
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.pairs.threads import single_threaded_blas

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FromCandidates:
    """A selection from candidates.

    Attributes:
        method: name of one of `ways.FROM_CANDIDATES`.
        crew: workers that hold the shards.
        plan: the shards, and how many candidates there are.
        pool: the selectable prompts.
        problem: what is to be picked of the pool.
        blocks: where the blocks of features lie, by name; `embedding` is the crew's own.
        buckets: of the embeddings table.
    """

    method: str
    crew: Crew
    plan: Plan
    pool: Pool
    problem: Problem
    blocks: Mapping[str, Embeddings]
    buckets: int

    def pick(self, registry: Registry, identity: Identity) -> Selection:
        """The picks; those of a selection that was finished before are read, and of a nested method a part of them.

        Raises:
            UsageError: k is more than a quarter of the candidates.
            BenchcoreError: vectors are missing or unusable, or workers keep dying.
        """
        count = self.plan.candidates or self.pool.n
        self._require_enough(count)
        chosen = drawn_candidates(self.problem, count)
        shards = self._shards()
        scales, features = self._surveyed(shards, chosen)
        groups = self.problem.group_numbers.astype(np.int32)[chosen]
        candidates = Rows([scale.applied(features[name]) for name, scale in scales.items()], groups)
        key = self._key(identity, chosen, scales, candidates)
        known = checkpoints.load(registry, key)
        if known is not None and len(known.order) >= self.problem.k:
            log.info("select: the picks of %s are there already", self.method)
            return unvalued(known.order[: self.problem.k])
        mean = self._mean(shards, scales, candidates)
        kernel = PartKernel(candidates.blocks, candidates.groups, mean)
        with waiting(f"{self.method} on {len(chosen):,} candidates"), single_threaded_blas():
            found = pick_from(chosen, FROM_CANDIDATES[self.method], self.problem, kernel)
        checkpoints.save(registry, key, Greedy(found.indices, np.zeros(len(found.indices))))
        return found

    def _require_enough(self, count: int) -> None:
        most = most_picks(self.problem, count)
        if self.problem.k > most:
            raise UsageError(
                f"{self.method} picks at most {most:,} of {count:,} candidates, a quarter, and {self.problem.k:,} are"
                " wanted",
                where="select.k",
                mend=f"Set select.candidates to {4 * self.problem.k:,}; time and memory grow with it.",
            )

    def _shards(self) -> list[Any]:
        """Shared references to what the workers are told about each shard: they are asked twice."""
        groups, said = self.problem.group_numbers.astype(np.int32), self.pool.feature_text
        found = []
        for shard in self.plan.shards:
            mine = shard.positions
            told = KernelShard(self.blocks, groups[mine], self.problem.mass[mine])
            if said is not None:
                there = tuple(sorted({bucket(str(text), self.buckets) for text in said[mine]}))
                told = replace(told, said=np.char.encode(said[mine]), said_buckets=there)
            found.append(self.crew.share(told))
        return found

    def _surveyed(self, shards: list[Any], chosen: Indices) -> tuple[dict[str, Scale], Features]:
        """The scale of each block over the whole pool, and the candidates' features as they are stored."""
        sample = sample_positions(self.pool.n)
        wanted = np.union1d(sample, chosen)
        answers: list[Survey] = self._of_shards("features", survey, shards, self.crew.share(wanted))
        place = np.argsort(np.concatenate([answer.positions for answer in answers]))
        found = {name: np.concatenate([answer.rows[name] for answer in answers])[place] for name in self.blocks}
        at = {name: rows[np.searchsorted(wanted, sample)] for name, rows in found.items()}
        whole = {name: together([answer.moments[name] for answer in answers]) for name in self.blocks}
        with single_threaded_blas():
            scales = {name: scale_of(whole[name], at[name], name == "surface") for name in self.blocks}
        return scales, {name: rows[np.searchsorted(wanted, chosen)] for name, rows in found.items()}

    def _mean(self, shards: list[Any], scales: Mapping[str, Scale], candidates: Rows) -> NDArray[np.float64]:
        """(m,) the mean similarity of each candidate to all prompts: the shards' parts, added in their order."""
        parts = self._of_shards("kernel mean", mean_part, shards, scales, self.crew.share(candidates))
        mean = np.zeros(len(candidates.groups))
        for part in parts:
            mean += part
        return mean

    def _of_shards(self, what: str, question: Callable[..., Any], shards: list[Any], *arguments: Any) -> list[Any]:
        """The answers of all shards to a question, in their order."""
        calls = {number: self.crew.begin(number, question, shard, *arguments) for number, shard in enumerate(shards)}
        answers = {}
        with progress(what, self.pool.n, "prompts") as advance:
            for number, answer in self.crew.finished(calls):
                answers[number] = answer
                advance(len(self.plan.shards[number].positions))
        return [answer for _, answer in sorted(answers.items())]

    def _key(self, identity: Identity, chosen: Indices, scales: Mapping[str, Scale], candidates: Rows) -> str:
        """Name of the picks: all that changes them, and where smaller selections are prefixes not k."""
        named = {**identity.semantic, "k": None} if method_of(self.method).nested else dict(identity.semantic)
        content = hashlib.sha256(chosen.tobytes())
        for scale in scales.values():
            content.update(scale.centre.tobytes() + scale.unit.tobytes())
        for block in candidates.blocks:
            content.update(block.tobytes())
        return digest("candidates", named, identity.input_digest, content.hexdigest())
