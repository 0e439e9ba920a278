"""The process that picks without shards, and in the ways that the product leaves: `python -m infra.scale.alone ASKED`.

It uses the core on arrays, and of the product only what says which prompts there are and how they are cut.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.config import Config, load_config
from benchcore.distributed.plan import depth
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import plan_of, problem_of
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.methods.facility_location import facility_location
from benchcore.methods.problem import Problem
from benchcore.pipeline.selectable import selectable
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin
from benchcore.submodular.constraints.rounds import Rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.quantise import UNIT, integer_mass, mass_weighted_mean, quantise
from benchcore.submodular.similarities.dot import DotSimilarity

Positions = NDArray[np.int64]

_BLOCK = 4096
_SMALLER = 0.8  # of merge_gb, until merges make a tree


@dataclass(frozen=True)
class Asked:
    """What is to be found out about a registry.

    Attributes:
        conf: its configuration, which names k.
        exact: the greedy of the whole pool, on one process.
        cuts: numbers of shards: how to have them and a tree of merges, and what is worth less than a merge of all rows.
        coresets: ids of picks to be valued on all rows, by name.
    """

    conf: str
    exact: bool = False
    cuts: tuple[int, ...] = ()
    coresets: dict[str, list[str]] | None = None

    def to_json(self) -> str:
        """For the command line."""
        return json.dumps(asdict(self))


def main(text: str) -> None:
    """Answer, as the last line."""
    asked = Asked(**json.loads(text))
    sys.stdout.write(json.dumps(answer(asked)) + "\n")


def answer(asked: Asked) -> dict[str, Any]:
    """Figures by what was asked."""
    started = time.monotonic()
    config = load_config(asked.conf)
    pool, problem = _read(config)
    found: dict[str, Any] = {"n": pool.n, "reading": time.monotonic() - started}
    if asked.exact:
        started = time.monotonic()
        picked = facility_location(problem)
        found["exact"] = {"value": picked.value, "seconds": time.monotonic() - started}
        found["cuts"] = {shards: _settings(config, pool, shards) for shards in asked.cuts}
        return found
    ground = Ground(problem)
    named = {identity: position for position, identity in enumerate(pool.prompt_id.tolist())}
    judged = asked.coresets or {}
    found["values"] = {name: ground.value(np.array([named[each] for each in ids])) for name, ids in judged.items()}
    found["cuts"] = {shards: _less(config, pool, ground, shards) for shards in asked.cuts}
    return found


def _read(config: Config) -> tuple[Pool, Problem]:
    registry = Registry.at(config.registry.root)
    pinned = pin(registry, ("prompts", "sources", "embeddings"))
    pool = selectable(config, registry, pinned)
    every = tuple(range(config.registry.buckets))
    vectors = Embeddings(registry, pinned["embeddings"], pool.encoder).read(every, pool.text_hash)
    return pool, replace(problem_of(config, pool)[0], features={"embedding": vectors})


def _settings(config: Config, pool: Pool, shards: int) -> dict[str, float]:
    """The settings that give so many shards, and a tree of merges over them."""
    size, room = -(-pool.n // shards), 1.0
    cut = _with(config, shard_size=size)
    try:
        while len(plan_of(_with(cut, merge_gb=room), pool).levels) == 1:
            room *= _SMALLER
    except BenchcoreError:  # too few for a tree: one merge it is
        room = 1.0
    return {"shards": len(plan_of(cut, pool).shards), "shard_size": size, "merge_gb": room}


def _less(config: Config, pool: Pool, ground: Ground, shards: int) -> dict[str, float]:
    """Values without a merge, and with one that looks at the candidates only; local rounds are the product's."""
    k = config.select.k
    parts = plan_of(_with(config, shard_size=-(-pool.n // shards)), pool).shards
    picks = [ground.greedy(part.positions, depth(k, pool.n)) for part in parts]
    candidates = np.unique(np.concatenate(picks))
    return {
        "none": max(ground.value(own[:k]) for own in picks),
        "candidates": ground.value(ground.greedy(candidates, k)),
    }


def _with(config: Config, **settings: float) -> Config:
    return config.model_copy(update={"select": config.select.model_copy(update=settings)})


class Ground:
    """All rows of a problem, as whole numbers."""

    def __init__(self, problem: Problem) -> None:
        vectors = problem.features["embedding"]
        self._turns, self._mass = problem.turns, integer_mass(problem.mass, problem.group_numbers)
        self._rows = quantise(vectors, mass_weighted_mean(vectors, self._mass))

    def greedy(self, positions: Positions, k: int) -> Positions:
        """k picks among some rows, which cover nothing but themselves."""
        rows, everyone = self._rows[positions], np.ones(len(positions), bool)
        objective = FacilityLocation(DotSimilarity(rows, clipped=False), self._mass[positions])
        rounds = Rounds(self._turns[positions], everyone, min(k, len(positions)))
        return positions[lazy_greedy(objective, rounds, landmarks=False).order]

    def value(self, picks: Positions) -> float:
        """How well picks cover all rows, as manifests have it."""
        chosen, total = self._rows[picks].T, 0.0
        for start in range(0, len(self._rows), _BLOCK):
            nearest = (self._rows[start : start + _BLOCK] @ chosen).max(axis=1, initial=0.0)
            total += float(self._mass[start : start + _BLOCK] @ nearest.astype(np.float64))
        return total / (float(self._mass.sum()) * UNIT)


if __name__ == "__main__":
    main(sys.argv[1])
