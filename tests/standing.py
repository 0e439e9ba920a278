"""Workers that outlive a selection or an embedding: few tests are about their start, and it takes most of the time.

All else is as ever: they are Ray's actors, in processes of their own, asked by the same crew or pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchcore.config import EmbedSection
from benchcore.distributed import crew
from benchcore.distributed.crew import Crew, ShardActor
from benchcore.distributed.vectors import Embeddings
from benchcore.embedding.workers import EncodingActor, Pool


class StandingShards(ShardActor):
    """Serves one crew after another; it keeps nothing of the one before."""

    def __init__(self) -> None:
        """There is no crew yet."""

    def serve(self, embeddings: Embeddings, memory: int) -> None:
        super().__init__(embeddings, memory, threads=1)


class StandingEncoder(EncodingActor):
    """Serves one pool after another; of the one before it keeps the libraries that encoders need."""

    def __init__(self) -> None:
        """There is no pool yet."""

    def serve(self, embed: EmbedSection, device: str, threads: int) -> None:
        super().__init__(embed, device, threads)


class Standing:
    """As many workers as any crew or pool so far had; Ray is connected."""

    def __init__(self) -> None:
        self._shards: list[Any] = []
        self._encoders: list[Any] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """All crews and pools of this process are of these workers, and leave them alive."""

        def join(joined: Crew) -> Crew:
            joined._actors = _enough(self._shards, StandingShards, len(joined._shards_of))
            for actor in joined._actors:
                actor.serve.remote(joined._embeddings, joined._memory)
            return joined

        def enter(pool: Pool) -> Pool:
            pool._actors = _enough(self._encoders, StandingEncoder, pool._plan.actors)
            for actor in pool._actors:
                actor.serve.remote(pool._embed, pool._plan.device, pool._plan.cpus)
            return pool

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Crew, "__enter__", join)
            patch.setattr(Pool, "__enter__", enter)
            for group in (Crew, Pool):
                patch.setattr(group, "__exit__", lambda *_: None)
            patch.setattr(crew, "_CHECK_S", 600)  # they need no room
            yield


def _enough(standing: list[Any], kind: type, wanted: int) -> list[Any]:
    """So many of the standing workers; those that lack are started."""
    import ray

    standing += [ray.remote(num_cpus=0)(kind).remote() for _ in range(wanted - len(standing))]
    return standing[:wanted]
