"""What a coreset is named by: all that changes its picks, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.config import Config
from benchcore.config.sections import ConstraintSection, QuerySection
from benchcore.distributed.plan import Plan
from benchcore.distributed.pool import Pool
from benchcore.distributed.ways import SHARDED, blocks_of, method_of
from benchcore.registry.identity import digest, input_digest

ALGORITHM_VERSION = 1  # raised whenever the same configuration and input give other picks than before


@dataclass(frozen=True)
class Identity:
    """What a coreset, and the order that it is a prefix of, are named by.

    Attributes:
        semantic: the semantic configuration, JSON-able; never paths, table versions, workers or memory.
        input_digest: hash of the selectable prompts, their texts and what their mass depends on.
    """

    semantic: Mapping[str, Any]
    input_digest: str

    @classmethod
    def of(cls, config: Config, pool: Pool, plan: Plan) -> Identity:
        """Name what a configuration makes of a pool that is cut into shards."""
        section = config.select
        at_once = len(plan.shards) == 1 or (section.method != SHARDED and method_of(section.method).needs)
        at_once = at_once and plan.candidates is None
        blocks = blocks_of(section.method, pool)
        semantic = {
            "algorithm": ALGORITHM_VERSION,
            "method": section.method,
            "k": section.k,
            "mass": section.mass,
            "constraint": _constraint(section.constraint),
            "filter": {key: sorted(value) if isinstance(value, tuple) else value for key, value in section.filter},
            "include": list(section.include),
            "exclude": sorted(section.exclude),
            "seed": section.seed,
            "features": {name: block.encoder for name, block in blocks.items()},
            "plan": {"shards": 1} if at_once else _cut(plan, config),
        }
        if section.audit:  # else coresets keep the names that they had before there was a slice
            semantic["audit"] = section.audit
        for key, query in (("toward", section.toward), ("away", section.away)):
            if query is not None:
                semantic[key] = semantic_of(query)
        attributes = hashlib.sha256(pool.copies.tobytes())
        if section.budget is not None and pool.tokens is not None:
            semantic["budget"] = {"tokens": section.budget.tokens}
            attributes.update(pool.tokens.tobytes())
        for column in (pool.benchmark, pool.category):
            attributes.update("\0".join(column.tolist()).encode())
        if pool.feature_text is not None and len(blocks) > 1:
            attributes.update("\0".join(pool.feature_text.tolist()).encode())
        pairs = zip(pool.prompt_id.tolist(), pool.text_hash.tolist(), strict=True)
        return cls(semantic, digest("input", input_digest(pairs), attributes.hexdigest()))

    @property
    def coreset_id(self) -> str:
        """Name of the coreset."""
        return digest("coreset", self.semantic, self.input_digest)

    def order_key(self, deep: int, centre: NDArray[np.float64]) -> str:
        """Name of the order of `deep` picks: all that changes it, so everything but k."""
        return self._key(self.semantic, deep, centre)

    def local_key(self, deep: int, centre: NDArray[np.float64]) -> str:
        """Name of what the shards pick by themselves to that depth: how their picks are merged changes none of it."""
        cut = {name: value for name, value in self.semantic["plan"].items() if name not in ("merges", "neighbours")}
        return self._key({**self.semantic, "plan": cut}, deep, centre)

    def _key(self, semantic: Mapping[str, Any], deep: int, centre: NDArray[np.float64]) -> str:
        return digest("order", {**semantic, "k": None}, self.input_digest, deep, centre.tobytes().hex())


def semantic_of(query: QuerySection) -> dict[str, Any]:
    """What of a query changes picks."""
    return {name: sorted(value) if isinstance(value, tuple) else value for name, value in query}


def _constraint(section: ConstraintSection) -> dict[str, Any]:
    """Quotas where there are some, in the place of rounds; else coresets keep the names that they had before quotas."""
    if not section.quotas:
        return {"rounds": section.rounds}
    return {"quotas": {name: list(bounds) for name, bounds in sorted(section.quotas.items())}, "over": section.over}


def _cut(plan: Plan, config: Config) -> dict[str, Any]:
    cut = {"shards": len(plan.shards), "buckets": config.registry.buckets}
    if plan.candidates is not None:
        return {**cut, "candidates": plan.candidates}
    if plan.neighbours is not None:
        cut["neighbours"] = plan.neighbours
    merges = [len(level) for level in plan.levels[:-1]]
    return {**cut, "merges": merges} if merges else cut  # a single merge keeps the name that it had before trees
