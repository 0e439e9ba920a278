"""The Ray actors of one selection: started, asked and, when one dies, started again by Ray."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from benchcore.distributed.shard_worker import ShardRows, ShardWorker
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.ray_cluster import cluster_cpus, thread_environment

log = logging.getLogger(__name__)

_RESTARTS = 8  # of each worker; every call is repeated on the new one


class ShardActor:
    """A shard worker in a process of its own.

    Each call names its shards by references that the driver keeps alive; the first one fetches them. Ray drops large
    arguments of a constructor, and could then not start the actor again.
    """

    def __init__(self, embeddings: Embeddings, memory: int) -> None:
        self._embeddings, self._memory = embeddings, memory
        self._worker: ShardWorker | None = None

    def ask(self, shards: Sequence[Any], method: str, *arguments: Any) -> Any:
        """Call a method of the shard worker."""
        import ray

        if self._worker is None:
            self._worker = ShardWorker(self._embeddings, ray.get(list(shards)), self._memory)
        return getattr(self._worker, method)(*arguments)


class Crew:
    """Workers that share the shards; a context manager, since their memory is free only when they are gone.

    Args:
        embeddings: where the workers read their vectors.
        shards: all shards; shard s is held by worker s modulo the number of workers.
        workers: how many; at most one a shard.
        memory: bytes that each may use beside its rows to be faster.
    """

    def __init__(self, embeddings: Embeddings, shards: Sequence[ShardRows], workers: int, memory: int) -> None:
        import ray

        self._shared = [ray.put(shard) for shard in shards]
        self._held: list[tuple[int, int]] = [(s % workers, s // workers) for s in range(len(shards))]
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
            for number in range(workers)
        ]
        self._shards_of = [self._shared[number::workers] for number in range(workers)]

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

    def ask_all(self, method: str, *arguments: Any) -> list[Any]:
        """Every worker's answer, in the order of workers."""
        calls = [self._begin(worker, method, *arguments) for worker in range(len(self._actors))]
        return [_answer(call) for call in calls]

    def ask_holder(self, shard: int, method: str, *arguments: Any) -> Any:
        """Have the worker that holds a shard begin a call, which gets the shard's number there; see `finished`."""
        worker, number = self._held[shard]
        before, after = arguments[:1], arguments[1:]
        return self._begin(worker, method, *before, number, *after)

    def _begin(self, worker: int, method: str, *arguments: Any) -> Any:
        return self._actors[worker].ask.remote(self._shards_of[worker], method, *arguments)

    def about_shard(self, shard: int, method: str, *arguments: Any) -> list[Any]:
        """Every worker's answer to a question about one shard."""
        return self.ask_all(method, *arguments, self._shared[shard])

    def finished(self, calls: dict[int, Any]) -> Iterator[tuple[int, Any]]:
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
