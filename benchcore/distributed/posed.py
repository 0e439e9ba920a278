"""What a configuration poses on a pool: the problem, and the plan of the work that solves it."""

from __future__ import annotations

import numpy as np

from benchcore.config import Config
from benchcore.distributed.constraints import require_known_to, rules_of
from benchcore.distributed.plan import Plan, depth, plan
from benchcore.distributed.pool import Pool
from benchcore.distributed.query import query_positions
from benchcore.distributed.ways import FROM_CANDIDATES, SHARDED, method_of
from benchcore.errors import UsageError
from benchcore.estimation.weights import Benchmark
from benchcore.methods.mass import group_shares, item_mass
from benchcore.methods.problem import Problem, require_feasible


def plan_of(config: Config, pool: Pool) -> Plan:
    """Plan the selection that a configuration stands for on a pool; its method may not need the shards to pick.

    Raises:
        BenchcoreError: no plan fits `select.merge_gb`.
    """
    section = config.select
    return plan(
        pool.text_hash,
        k=depth(section.k - section.audit, pool.n),
        shard_size=section.shard_size,
        buckets=config.registry.buckets,
        merge_gb=section.merge_gb if section.method == SHARDED else None,
        certified=certified(config),
        exact_rows=section.exact_rows,
        candidates=section.candidates if section.method in FROM_CANDIDATES else None,
        neighbours=section.neighbours,
    )


def problem_of(config: Config, pool: Pool) -> tuple[Problem, tuple[Benchmark, ...]]:
    """The problem that a configuration poses on a pool, without its vectors, and each benchmark's share.

    Raises:
        UsageError: as `job.select`.
    """
    section = config.select
    if pool.n == 0:
        raise UsageError("there is no prompt to pick from", where="select.filter", mend="Loosen the filter.")
    method_of(section.method)
    require_known_to(section.method, section)
    names, first, place = np.unique(pool.benchmark, return_index=True, return_inverse=True)
    sizes = np.bincount(place, weights=pool.copies).astype(np.float64)
    shares = group_shares(section.mass, names, sizes, pool.category[first])
    problem = Problem(
        ids=pool.prompt_id,
        groups=pool.category if "category" in (section.constraint.rounds, section.constraint.over) else pool.benchmark,
        mass=item_mass(shares, place.astype(np.int64), pool.copies.astype(np.float64)),
        features={},
        k=section.k if section.budget is None else min(section.k, pool.n - len(section.exclude)),
        balanced=section.constraint.rounds is not None or bool(section.constraint.quotas),
        include=pool.positions(section.include, "include"),
        exclude=pool.positions(section.exclude, "exclude"),
        costs=None if section.budget is None else pool.tokens,
        seed=section.seed,
    )
    require_feasible(problem, where="select.")
    rules_of(section, problem)
    query_positions(section, pool)
    benchmarks = zip(names, pool.category[first], shares, strict=True)
    return problem, tuple(Benchmark(str(name), str(category), float(share)) for name, category, share in benchmarks)


def certified(config: Config) -> bool:
    """Whether a configuration wants a certificate, and its method has one."""
    return config.select.certificate and config.select.method == SHARDED
