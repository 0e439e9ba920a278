"""The Ray actors of one selection: started, asked and, when one dies, started again by Ray."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from benchcore.distributed.on_actors.held import HeldShards, ShardRows
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.ray_cluster import cluster_cpus, thread_environment

log = logging.getLogger(__name__)

_RESTARTS = 8  # of each worker; every call is repeated on the new one

Answer = TypeVar("Answer")
Key = TypeVar("Key")


class ShardActor:
    """Held shards in a process of their own.

    Each call names its shards by references that the driver keeps alive; the first one fetches them. Ray drops large
    arguments of a constructor, and could then not start the actor again.
    """

    def __init__(self, embeddings: Embeddings, memory: int) -> None:
        self._embeddings, self._memory = embeddings, memory
        self._held: HeldShards | None = None

    def ask(self, shards: Mapping[int, Any], question: Callable[..., Any], *arguments: Any) -> Any:
        """Answer a question about the held shards."""
        import ray

        if self._held is None:
            rows = ray.get(list(shards.values()))
            self._held = HeldShards(self._embeddings, dict(zip(shards, rows, strict=True)), self._memory)
        return question(self._held, *arguments)


class Crew:
    """Workers that share the shards; a context manager, since their memory is free only when they are gone.

    A question is a function at the top of a module, of the held shards and of what the driver adds; arguments that were
    shared arrive as what they stand for.

    Args:
        embeddings: where the workers read their vectors.
        shards: all shards; shard s is held by worker s modulo the number of workers.
        workers: how many; at most one a shard.
        memory: bytes that each may use beside its rows to be faster.
    """

    def __init__(self, embeddings: Embeddings, shards: Sequence[ShardRows], workers: int, memory: int) -> None:
        import ray

        self._shared = [ray.put(shard) for shard in shards]
        # More workers than CPUs take turns on them; asking for a whole one each would wait for ever.
        cpus = cluster_cpus() // workers if workers <= cluster_cpus() else cluster_cpus() / workers
        actor: Any = ray.remote(ShardActor)
        self._actors: list[Any] = [
            actor.options(
                num_cpus=cpus,
                max_restarts=_RESTARTS,
                max_task_retries=_RESTARTS,
                runtime_env={"env_vars": thread_environment(max(1, int(cpus)))},
            ).remote(embeddings, memory)
            for _ in range(workers)
        ]
        self._shards_of = [
            {shard: self._shared[shard] for shard in range(number, len(shards), workers)} for number in range(workers)
        ]

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import ray

        for actor in self._actors:
            ray.kill(actor)

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return len(self._shared)

    def share(self, value: object) -> Any:
        """Put what several calls need into Ray's store once."""
        import ray

        return ray.put(value)

    def ask_all(self, question: Callable[..., Answer], *arguments: Any) -> list[Answer]:
        """Every worker's answer, in the order of workers."""
        calls = [self._begin(worker, question, *arguments) for worker in range(len(self._actors))]
        return [_answer(call) for call in calls]

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
            ready, _ = ray.wait(list(waiting), num_returns=1)
            yield waiting.pop(ready[0]), _answer(ready[0])


def _answer(call: Any) -> Any:
    """The result of a call; a mistake that a user can mend comes out as it was raised in the worker."""
    import ray
    from ray.exceptions import ActorDiedError, RayActorError, RayTaskError

    try:
        return ray.get(call)
    except RayTaskError as error:
        if isinstance(error.cause, BenchcoreError):
            raise error.cause from None
        raise
    except (ActorDiedError, RayActorError) as error:
        raise BenchcoreError(
            f"a selection worker died more than {_RESTARTS} times ({str(error).splitlines()[0]})",
            where="select",
            mend="If memory ran out, lower select.workers or select.shard_size; finished shards are kept.",
        ) from error


def workers_for(configured: int | str, shards: int) -> int:
    """How many workers serve some shards: as configured, else one for each CPU; never more than shards."""
    return max(1, min(shards, cluster_cpus() if configured == "auto" else int(configured)))
