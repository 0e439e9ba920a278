"""The Ray actors of one selection: started, asked and, when one dies, started again by Ray."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from benchcore.distributed.on_actors.held import HeldShards, ShardRows
from benchcore.distributed.placement import Node, described, gib, share
from benchcore.distributed.pulse import PULSE, Pulses
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.ray_cluster import cluster_cpus, use_threads

log = logging.getLogger(__name__)

_RESTARTS = 8  # of each worker; every call is repeated on the new one
_CHECK_S = 10  # without an answer, until it is asked whether all workers have a place and live

Answer = TypeVar("Answer")
Key = TypeVar("Key")


class ShardActor:
    """Held shards in a process of their own.

    Each call names its shards by references that the driver keeps alive; the first one fetches them. Ray drops large
    arguments of a constructor, and could then not start the actor again.
    """

    def __init__(self, embeddings: Embeddings, memory: int, threads: int) -> None:
        use_threads(threads)
        self._embeddings, self._memory = embeddings, memory
        self._held: HeldShards | None = None

    def ask(self, shards: Mapping[int, Any], question: Callable[..., Any], *arguments: Any) -> Any:
        """Answer a question about the held shards."""
        import ray

        if self._held is None:
            _require_root(self._embeddings)
            rows = ray.get(list(shards.values()))
            self._held = HeldShards(self._embeddings, dict(zip(shards, rows, strict=True)), self._memory)
        return question(self._held, *arguments)

    def pulse(self) -> str:
        """Say which process this is; answered while a question is, too."""
        return f"process {os.getpid()} on the machine {socket.gethostname()}"


def _require_root(embeddings: Embeddings) -> None:
    registry = embeddings.registry
    if registry.is_local and not Path(registry.root).is_dir():
        raise BenchcoreError(
            f"a worker on the machine {socket.gethostname()} does not find the registry",
            where=registry.root,
            mend="Workers read it themselves: put it where all machines of the cluster see it under the same path.",
        )


class Crew:
    """Workers that share the shards; a context manager, since their memory is free only when they are gone.

    They are spread over the nodes of the cluster. A worker that dies, also with its node, or does not answer any more
    is started again wherever there is room, and asked again; that changes no answer. Where there is no room, the wait
    has an end.

    A question is a function at the top of a module, of the held shards and of what the driver adds; arguments that were
    shared arrive as what they stand for.

    Args:
        embeddings: where the workers read their vectors.
        shards: all shards; shard s is held by worker s modulo the number of workers.
        workers: how many; at most one a shard.
        memory: bytes that each may use beside its rows to be faster.
        needed: bytes that each must find on its node; 0 where that was seen to.
        patience_s: how long to wait for room, at the start and when a node was lost.
        stall_s: how long a worker may give no sign of life.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        shards: Sequence[ShardRows],
        workers: int,
        memory: int,
        *,
        needed: int = 0,
        patience_s: int = 300,
        stall_s: int = 600,
    ) -> None:
        import ray

        self._embeddings, self._memory = embeddings, memory
        self._patience_s, self._stall_s = patience_s, stall_s
        self._share = share(_nodes(), workers, needed)
        self._shared = [ray.put(shard) for shard in shards]
        self._shards_of = [
            {shard: self._shared[shard] for shard in range(number, len(shards), workers)} for number in range(workers)
        ]
        self._actors: list[Any] = []
        self._places: Any = None
        self._pulses = Pulses([], stall_s)

    def __enter__(self) -> Crew:
        import ray
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        actor: Any = ray.remote(concurrency_groups={PULSE: 1})(ShardActor)  # type: ignore[call-overload]
        demand = {"num_cpus": self._share.cpus} | ({"memory": self._share.memory} if self._share.memory else {})
        bundle = {{"num_cpus": "CPU"}.get(name, name): amount for name, amount in demand.items()}
        self._places = placement_group([bundle] * len(self._shards_of), strategy="SPREAD")
        self._actors = [
            actor.options(
                **demand,
                max_restarts=_RESTARTS,
                max_task_retries=-1,  # while it may be started again: until Ray knows of a lost node, retries fail
                scheduling_strategy=PlacementGroupSchedulingStrategy(self._places, number),
            ).remote(self._embeddings, self._memory, self._share.threads)
            for number in range(len(self._shards_of))
        ]
        self._pulses = Pulses(self._actors, self._stall_s)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import ray
        from ray.util.placement_group import remove_placement_group

        for actor in self._actors:
            ray.kill(actor)
        remove_placement_group(self._places)

    def share(self, value: object) -> Any:
        """Put what several calls need into Ray's store once."""
        import ray

        return ray.put(value)

    def ask_all(self, question: Callable[..., Answer], *arguments: Any) -> list[Answer]:
        """Every worker's answer, in the order of workers."""
        calls = [self._begin(worker, question, *arguments) for worker in range(len(self._actors))]
        return [self._answer(call) for call in calls]

    def begin(self, shard: int, question: Callable[..., Any], *arguments: Any) -> Any:
        """Have the worker that holds a shard begin to answer a question about it; see `finished`."""
        return self._begin(shard % len(self._actors), question, shard, *arguments)

    def _begin(self, worker: int, question: Callable[..., Any], *arguments: Any) -> Any:
        return self._actors[worker].ask.remote(self._shards_of[worker], question, *arguments)

    def ask_all_about(self, shard: int, question: Callable[..., Answer], *arguments: Any) -> list[Answer]:
        """Every worker's answer to a question about one shard, whose rows come last among the arguments."""
        return self.ask_all(question, *arguments, self._shared[shard])

    def finished(self, calls: Mapping[Key, Any]) -> Iterator[tuple[Key, Any]]:
        """Answers of begun calls by their keys, each as soon as it is there."""
        import ray

        waiting = {call: key for key, call in calls.items()}
        while waiting:
            ready, _ = ray.wait(list(waiting), num_returns=1, timeout=_CHECK_S)
            if ready:
                yield waiting.pop(ready[0]), self._answer(ready[0])
            else:
                self._see_to_workers()

    def _answer(self, call: Any) -> Any:
        """The result of a call; a mistake that a user can mend comes out as it was raised in the worker."""
        import ray
        from ray.exceptions import ActorDiedError, OutOfMemoryError, RayError, RayTaskError

        while not ray.wait([call], timeout=_CHECK_S)[0]:
            self._see_to_workers()
        try:
            return ray.get(call)
        except RayTaskError as error:
            if isinstance(error.cause, BenchcoreError):
                raise error.cause from None
            raise _lost("a selection worker failed", error.cause, "--debug shows where") from error
        except (ActorDiedError, OutOfMemoryError) as error:
            mend = "If memory ran out, lower select.workers or select.shard_size"
            raise _lost(f"a selection worker died more than {_RESTARTS} times", error, mend) from error
        except RayError as error:
            raise _lost("Ray lost an answer of a selection worker", error, "Run the command again") from error

    def _see_to_workers(self) -> None:
        self._require_room()
        self._pulses.check()

    def _require_room(self) -> None:
        """Wait for places for the workers that lost theirs, or never had one.

        Raises:
            BenchcoreError: there was no room for longer than the patience.
        """
        if self._places.wait(1):
            return
        log.warning("select: not all workers have room on %s; waiting for nodes", described(_nodes()))
        if not self._places.wait(self._patience_s):
            least = f"{self._share.cpus:g} CPUs" + (f" and {gib(self._share.memory)}" if self._share.memory else "")
            raise BenchcoreError(
                f"{len(self._actors)} workers with {least} each found no room for {self._patience_s} s"
                f" on {described(_nodes())}",
                where="select",
                mend="Lower select.workers, or give the cluster more nodes; finished shards are kept.",
            )


def _lost(what: str, error: BaseException, mend: str) -> BenchcoreError:
    lines = str(error).strip().splitlines() or [""]
    return BenchcoreError(
        f"{what} ({type(error).__name__}: {lines[0]})", where="select", mend=f"{mend}; finished shards are kept."
    )


def _nodes() -> list[Node]:
    """The living nodes of the cluster."""
    import ray

    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    return [Node(found.get("CPU", 0), found.get("memory", 0)) for found in alive]


def workers_for(configured: int | str, shards: int) -> int:
    """How many workers serve some shards: as configured, else one for each CPU; never more than shards."""
    return max(1, min(shards, cluster_cpus() if configured == "auto" else int(configured)))
