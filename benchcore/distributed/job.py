"""Select a coreset over Ray: from a pool to the tables `coresets`, `coreset_weights` and `manifests`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.config import Config
from benchcore.distributed import checkpoints
from benchcore.distributed.audit import joined, set_apart
from benchcore.distributed.certificate import says_more
from benchcore.distributed.constraints import Rules, is_nested, rules_of
from benchcore.distributed.coreset import Coreset, write
from benchcore.distributed.costs import DAEMON_BYTES, Work, granted, require_memory, rounds, worker_bytes
from benchcore.distributed.crew import Crew, workers_for
from benchcore.distributed.identity import Identity
from benchcore.distributed.kernel_mean import FromCandidates
from benchcore.distributed.measured import Measured, Measuring
from benchcore.distributed.on_actors.centre import magnitude, sums
from benchcore.distributed.on_actors.held import ShardRows
from benchcore.distributed.order import Order, inner_keys
from benchcore.distributed.plan import Plan, depth
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import plan_of, problem_of
from benchcore.distributed.prefixes import Orders
from benchcore.distributed.query import query_of
from benchcore.distributed.sizing import described, dimensions_of, measured_rates, on, work_of
from benchcore.distributed.timings import Timings, timed
from benchcore.distributed.vectors import Embeddings
from benchcore.distributed.ways import SHARDED, method_of
from benchcore.distributed.whole_pool import WholePool
from benchcore.estimation.weights import Benchmark
from benchcore.machine import free_memory
from benchcore.methods import METHODS
from benchcore.methods.problem import Problem, Selection
from benchcore.methods.unvalued import unvalued
from benchcore.ray_cluster import cluster_cpus, connect, is_joined
from benchcore.registry.identity import digest
from benchcore.registry.manifests import find_manifest, uncovered_warnings
from benchcore.registry.root import Registry
from benchcore.submodular.quantise import UNIT, centre_of, integer_mass, mean_exponent

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SelectOutcome:
    """What became of a selection.

    Attributes:
        coreset_id: of the coreset that the configuration and the input stand for.
        changed: False when it was there already.
        picks: how many it has; a budget may have ended it before k.
        warnings: one line each.
    """

    coreset_id: str
    changed: bool
    picks: int
    warnings: tuple[str, ...] = ()


def select(config: Config, registry: Registry, pool: Pool, run_id: str, pinned: Mapping[str, int]) -> SelectOutcome:
    """Pick a coreset and write it, unless it is there already; then no engine is started.

    The caller holds the registry's lock.

    Args:
        config: the section `select`, and Ray's.
        registry: whose tables are read and written.
        pool: the selectable prompts.
        run_id: recorded in the manifest.
        pinned: table -> version to read; `embeddings` among them.

    Raises:
        UsageError: the pool is empty, k does not fit it, or ids or benchmarks that are named are not in it.
        BenchcoreError: vectors are missing or unusable, memory does not suffice, or workers keep dying.
    """
    found = selecting(config, registry, pool)
    coreset_id, certificate = found.identity.coreset_id, found.plan.certificate
    known = find_manifest(registry, coreset_id)
    if known is not None:
        if not says_more(certificate, known.certificate):
            log.info("select: coreset %s is there already", coreset_id)
            return SelectOutcome(coreset_id, changed=False, picks=known.k)
        log.info("select: coreset %s is there already, and gets the certificate '%s'", coreset_id, certificate)
    return found.run(run_id, pinned)


def coreset_id_of(config: Config, pool: Pool) -> str:
    """Name the coreset that a configuration stands for on a pool, whether it was selected yet or not."""
    return Identity.of(config, pool, plan_of(config, pool)).coreset_id


def orders(config: Config, registry: Registry, pool: Pool, pinned: Mapping[str, int]) -> Orders:
    """The picks of every k up to `select.k`; what is computed is kept, so that their selection is quick.

    A method whose smaller selections are no prefixes has no such order; its place takes a balanced random draw.

    Args:
        config: the section `select`, and Ray's where workers pick.
        registry: whose tables are read.
        pool: the selectable prompts.
        pinned: table -> version to read; `embeddings` among them.

    Raises:
        UsageError: as `select`.
        BenchcoreError: as `select`.
    """
    return selecting(config, registry, pool).orders(pinned.get("embeddings"))


def selecting(config: Config, registry: Registry, pool: Pool) -> Selecting:
    """Plan a selection; nothing is started.

    Raises:
        UsageError: as `select`.
        BenchcoreError: no plan fits `select.merge_gb`.
    """
    problem, shares = problem_of(config, pool)
    audit, core = set_apart(problem, config.select.audit)
    planned = plan_of(config, pool)
    identity = Identity.of(config, pool, planned)
    return Selecting(config, registry, pool, problem, audit, core, shares, planned, identity)


@dataclass(frozen=True, eq=False)
class Selecting:
    """One selection under way: `core` is what the method picks of `problem`, beside the audit slice."""

    config: Config
    registry: Registry
    pool: Pool
    problem: Problem
    audit: Selection
    core: Problem
    shares: tuple[Benchmark, ...]
    plan: Plan
    identity: Identity

    def run(self, run_id: str, pinned: Mapping[str, int]) -> SelectOutcome:
        """Pick, measure and write."""
        timings: Timings = {}
        version, rates = pinned.get("embeddings"), measured_rates()
        picked = None
        if self.config.select.method != SHARDED and self.plan.candidates is None:
            with timed("order", timings):
                picked = self._at_once(version)
        with self._crew(version) as crew:
            work = self._on_cluster(self.work(version))
            planned = described(work, rounds(work, rates))
            if self.plan.candidates is not None:
                with timed("order", timings):
                    picked = self._from_candidates(crew, version)
            with timed("centre", timings):
                centre = _centre(crew, self.total_mass)
                shared = crew.share(centre)
            if picked is None:
                picked, uncovered = self._over_shards(crew, centre, shared, self.core.k, timings)
                planned |= uncovered
            picked = joined(picked, self.audit)
            measured = self._measuring(crew, shared).measure(picked.indices, timings)
        coreset = self._coreset(picked, measured, centre)
        write(self.registry, self.pool, coreset, run_id=run_id, pinned=pinned, timings=timings, plan=planned)
        for key in inner_keys(self.identity.order_key(self._deep(self.core.k), centre), self.plan):
            checkpoints.remove(self.registry, key)
        picks = len(picked.indices)
        warnings = tuple(uncovered_warnings(planned, picks))
        return SelectOutcome(self.identity.coreset_id, changed=True, picks=picks, warnings=warnings)

    def orders(self, version: int | None) -> Orders:
        """The picks of every k."""
        k, audit, method = self.core.k, self.audit.indices, self.config.select.method
        if not method_of(method).nested:
            return Orders(audit, ((k, METHODS["random"](self.core).indices),), nested=False)
        if self.plan.candidates is not None:
            with self._crew(version) as crew:
                return Orders(audit, ((k, self._from_candidates(crew, version).indices),))
        if method != SHARDED:
            return Orders(audit, ((k, self._at_once(version).indices),))
        found = {}
        with self._crew(version) as crew:
            centre = _centre(crew, self.total_mass)
            shared = crew.share(centre)
            for deep in sorted({depth(picks, k) for picks in range(max(1, len(self.core.include)), k + 1)}):
                bracket = self.config.select.model_copy(update={"k": deep + len(audit)})
                deeper = selecting(self.config.model_copy(update={"select": bracket}), self.registry, self.pool)
                found[deep] = deeper._over_shards(crew, centre, shared, deep, {})[0].indices
        return Orders(audit, tuple(found.items()))

    @property
    def _rules(self) -> Rules:
        return rules_of(self.config.select, self.problem)

    @property
    def total_mass(self) -> float:
        """Of all prompts, a whole number."""
        return float(self._mass.sum())

    def work(self, version: int | None) -> Work:
        """The selection in numbers, on this machine."""
        dimensions = dimensions_of(self.config, self.registry, self.pool, version)
        return work_of(self.config, self.pool, self.plan, depth=self._deep(self.core.k), dimensions=dimensions)

    def _on_cluster(self, work: Work) -> Work:
        return on(work, workers_for(self.config.select.workers, len(self.plan.shards)), cluster_cpus())

    def _deep(self, k: int) -> int:
        """How many picks are ordered when k are wanted."""
        return depth(k, self.core.n - len(self.core.exclude)) if is_nested(self.config.select) else k

    @property
    def _mass(self) -> NDArray[np.float64]:
        return integer_mass(self.problem.mass, self.problem.group_numbers)

    @contextmanager
    def _crew(self, version: int | None) -> Iterator[Crew]:
        """The workers, with the shards."""
        connect(self.config.ray)
        embeddings = Embeddings(self.registry, version, self.pool.encoder)
        work, available = self._on_cluster(self.work(version)), _free_memory(self.config)
        if work.way == "whole pool":
            work = replace(work, way="labels")  # its picks are there already
        require_memory(work, available)
        needed = worker_bytes(work) if is_joined(self.config.ray) else 0
        with Crew(
            embeddings,
            self.shard_rows(),
            work.workers,
            granted(work, available) // work.workers,
            needed=needed,
            patience_s=self.config.ray.room_timeout_s,
            stall_s=self.config.ray.stall_timeout_s,
        ) as crew:
            yield crew

    def shard_rows(self) -> list[ShardRows]:
        """What workers are told about the shards."""
        turns, available, mass = self.core.turns, self.core.available, self._mass
        return [
            ShardRows(
                buckets=shard.buckets,
                positions=shard.positions,
                ids=np.char.encode(self.pool.prompt_id[shard.positions]),
                text_hash=np.char.encode(self.pool.text_hash[shard.positions]),
                mass=mass[shard.positions],
                turns=turns[shard.positions],
                available=available[shard.positions],
                costs=None if self.core.costs is None else self.core.costs[shard.positions],
            )
            for shard in self.plan.shards
        ]

    def _at_once(self, version: int | None) -> Selection:
        """The picks of a method that runs in one process; its gains, if it has any, are no parts of the coverage."""
        picked = WholePool(self.config, self.registry, self.pool, version).pick(self.core, self.identity)
        return replace(picked, gains=np.zeros(len(picked.indices)))

    def _from_candidates(self, crew: Crew, version: int | None) -> Selection:
        """The picks of a method whose candidates' means the workers measure."""
        blocks = WholePool(self.config, self.registry, self.pool, version).stored()
        method, buckets = self.config.select.method, self.config.registry.buckets
        picking = FromCandidates(method, crew, self.plan, self.pool, self.core, blocks, buckets)
        return picking.pick(self.registry, self.identity)

    def _over_shards(
        self, crew: Crew, centre: NDArray[np.float64], shared: Any, k: int, timings: Timings
    ) -> tuple[Selection, dict[str, float]]:
        """k picks over the shards with their whole-number gains, and which shares of the pool they leave uncovered."""
        deep = self._deep(k)
        key, local_key = self.identity.order_key(deep, centre), self.identity.local_key(deep, centre)
        problem = replace(self.core, k=deep)
        rules = rules_of(self.config.select, problem)
        memory, query = int(self.config.select.merge_gb * 2**30), query_of(self.config.select, self.pool, crew, shared)
        order = Order(crew, self.plan, problem, rules, shared, self.registry, key, local_key, memory, query)
        found = order.find(timings)
        picks, reached = found.picks, found.reached
        if self.config.select.budget is not None and len(picks.order) == k:
            log.warning("select: k = %d was reached before the budget of tokens; raise select.k to use it up", k)
        uncovered = {} if reached is None else reached.uncovered(k, self.pool.n, self.total_mass)
        if uncovered:
            shares = tuple(100 * share for share in uncovered.values())
            log.info("select: covered by nothing are %.2f %% of the prompts, %.2f %% of the mass", *shares)
        return replace(unvalued(picks.order[:k]), gains=picks.gains[:k]), uncovered

    def _measuring(self, crew: Crew, centre: Any) -> Measuring:
        constraint = self._rules.constraint(self.problem.turns, self.problem.available, self.problem.costs)
        seed = int(digest("certificate", self.identity.coreset_id)[:12], 16)
        query = query_of(self.config.select, self.pool, crew, centre)
        return Measuring(crew, self.plan, centre, self._mass, constraint, seed, query)

    def _coreset(self, picked: Selection, measured: Measured, centre: NDArray[np.float64]) -> Coreset:
        scale = self.total_mass * UNIT
        return Coreset(
            coreset_id=self.identity.coreset_id,
            semantic=self.identity.semantic,
            input_digest=self.identity.input_digest,
            order=picked.indices,
            gains=picked.gains / scale,
            roles=picked.roles,
            probabilities=picked.inclusion_probabilities,
            coverage=measured.coverage,
            nearest=measured.nearest,
            shares=self.shares,
            value=measured.value / scale,
            certificate=measured.certificate,
            centre=centre,
        )


def _centre(crew: Crew, total: float) -> NDArray[np.float64]:
    """The mass-weighted mean of the pool, exact whatever the shards: it is added up in whole numbers."""
    exponent = mean_exponent(max(crew.ask_all(magnitude)))
    return centre_of(np.sum(crew.ask_all(sums, exponent), axis=0, dtype=np.int64), total, exponent)


def _free_memory(config: Config) -> int:
    """Bytes that all processes of a selection may have, those that run already included."""
    import psutil
    import ray

    if is_joined(config.ray):
        resources: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
        return int(resources.get("memory", 0))
    free = free_memory() or int(psutil.virtual_memory().available)
    return free + DAEMON_BYTES + int(psutil.Process().memory_info().rss)
