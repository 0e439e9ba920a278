"""The pool of Ray actors that encode units, and what happens when one of them dies."""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from benchcore.config import EmbedSection
from benchcore.embedding.encoder import BatchTokens, Encoder, load
from benchcore.embedding.model_files import ModelFiles
from benchcore.embedding.precision import Probe, probe
from benchcore.embedding.staging import rows_of, write_unit
from benchcore.errors import BenchcoreError
from benchcore.ray_cluster import cluster_cpus, thread_environment
from benchcore.registry.root import Registry

log = logging.getLogger(__name__)

_ATTEMPTS = 3
_AHEAD = 2  # units that wait at each actor, so that none is idle while its next texts travel
# An actor without its model: the interpreter, Ray, torch and what it compiles for the shapes that it meets.
_BASE_BYTES = 1200 * 1024**2
_QUIET = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}
# torch keeps a kernel for each shape it has met, a thousand of them if nobody says otherwise.
_SMALL = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64", "MALLOC_ARENA_MAX": "2"}


@dataclass(frozen=True)
class PoolPlan:
    """How many actors there are and what each gets.

    Attributes:
        actors: at least one.
        cpus: threads of each. They follow from the encoder and the machine, never from the number of actors:
            the last bits of a vector can depend on them.
        device: "cpu" or "cuda".
    """

    actors: int
    cpus: int
    device: str


@dataclass(frozen=True)
class Order:
    """A unit of work as an actor gets it."""

    unit_id: str
    hashes: Sequence[str]
    texts: Sequence[str]
    registry: Registry
    encoder: str
    precision: str
    batch_tokens: BatchTokens
    buckets: int


@dataclass(frozen=True)
class Done:
    """What became of a unit; its rows are staged."""

    unit_id: str
    texts: int
    truncated: int
    tokens: int


class UnusableVectorsError(Exception):
    """An encoder gave vectors that are not finite, or zero.

    Attributes:
        hashes: of the texts concerned.
    """

    def __init__(self, hashes: list[str]) -> None:
        super().__init__(hashes)
        self.hashes = hashes


class EncodingActor:
    """Lives in a process of its own and turns orders into staged files."""

    def __init__(self, embed: EmbedSection, device: str, threads: int) -> None:
        self._embed, self._device, self._threads = embed, device, threads
        self._loaded: Encoder | None = None

    def dimension(self) -> int:
        """Load the model, if need be, and say how long its vectors are."""
        return self._encoder().dimension

    def probe(self, texts: Sequence[str]) -> Probe:
        """Find out which precision serves better here."""
        return probe(self._encoder(), texts, self._device)

    def encode(self, order: Order) -> Done:
        """Encode a unit and stage its rows."""
        encoded = self._encoder().encode(order.texts, order.precision, order.batch_tokens)
        usable = np.isfinite(encoded.vectors).all(axis=1) & encoded.vectors.any(axis=1)
        if not usable.all():
            raise UnusableVectorsError([order.hashes[row] for row in np.flatnonzero(~usable).tolist()])
        rows = rows_of(order.hashes, order.encoder, encoded, order.buckets)
        write_unit(order.registry, order.encoder, order.unit_id, rows)
        return Done(order.unit_id, len(order.texts), int(encoded.truncated.sum()), encoded.tokens)

    def _encoder(self) -> Encoder:
        if self._loaded is None:
            self._loaded = load(self._embed, self._device, self._threads)
        return self._loaded


class Pool:
    """Actors for the duration of a block; their memory is free again after it.

    Args:
        embed: the encoder to be loaded.
        plan: how many, with what.
    """

    def __init__(self, embed: EmbedSection, plan: PoolPlan) -> None:
        self._embed, self._plan = embed, plan
        self._offline = {} if embed.encoder.revision else {"HF_HUB_OFFLINE": "1"}
        self._actors: list[Any] = []

    def __enter__(self) -> Pool:
        self._actors = [self._start() for _ in range(self._plan.actors)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import ray

        for actor in self._actors:
            ray.kill(actor)

    def dimension(self) -> int:
        """Length of the vectors; the first to fail when an encoder cannot be loaded.

        Raises:
            BenchcoreError: the encoder cannot be loaded.
        """
        return int(self._ask("dimension"))

    def probe(self, texts: Sequence[str]) -> Probe:
        """Let one actor find out which precision serves better."""
        found: Probe = self._ask("probe", texts)
        return found

    def run(self, orders: Iterable[Order]) -> Iterator[Done]:
        """Have units encoded, in any order; a unit whose actor dies is given to a new one.

        Raises:
            BenchcoreError: a unit's actors died, one after the other.
            UnusableVectorsError: vectors are not finite, or zero.
        """
        import ray
        from ray.exceptions import OutOfMemoryError, RayActorError, RayTaskError, WorkerCrashedError

        waiting, repeated = iter(orders), deque[Order]()
        running: dict[Any, tuple[int, Any, Order]] = {}
        attempts: Counter[str] = Counter()

        def give(place: int) -> None:
            order = repeated.popleft() if repeated else next(waiting, None)
            if order is not None:
                actor = self._actors[place]
                running[actor.encode.remote(order)] = (place, actor, order)

        for place in list(range(self._plan.actors)) * _AHEAD:
            give(place)
        while running:
            (reference,), _ = ray.wait(list(running), num_returns=1)
            place, actor, order = running.pop(reference)
            try:
                done: Done = ray.get(reference)
            except RayTaskError as error:
                raise _told(error) from error
            except (RayActorError, OutOfMemoryError, WorkerCrashedError) as error:
                attempts[order.unit_id] += 1
                if attempts[order.unit_id] >= _ATTEMPTS:
                    raise _died(order, error) from error
                self._replace(place, actor)
                repeated.append(order)
            else:
                yield done
            give(place)

    def _start(self) -> Any:
        import ray

        on_gpu = self._plan.device == "cuda"
        actor = ray.remote(EncodingActor).options(
            num_cpus=self._plan.cpus,
            num_gpus=1 if on_gpu else 0,
            runtime_env={"env_vars": thread_environment(self._plan.cpus) | _QUIET | _SMALL | self._offline},
        )
        started: Any = actor.remote(self._embed, self._plan.device, self._plan.cpus)
        started.dimension.remote()  # all load at once; one that fails says so when it is asked
        return started

    def _replace(self, place: int, dead: Any) -> None:
        """Start a new actor, unless that was done already for another unit of the dead one."""
        if self._actors[place] is dead:
            log.warning("an encoding worker died; a new one repeats its unit")
            self._actors[place] = self._start()

    def _ask(self, method: str, *arguments: Any) -> Any:
        import ray
        from ray.exceptions import RayActorError, RayTaskError

        for attempt in range(_ATTEMPTS):
            actor = self._actors[0]
            try:
                return ray.get(getattr(actor, method).remote(*arguments))
            except RayTaskError as error:
                raise _told(error) from error
            except RayActorError as error:
                if attempt == _ATTEMPTS - 1:
                    raise BenchcoreError(
                        f"the encoder's worker died {_ATTEMPTS} times ({str(error).splitlines()[0]})", mend=_MEND
                    ) from error
                self._replace(0, actor)
        raise AssertionError("unreachable")


_MEND = "It may have run out of memory: set embed.workers or embed.batch_tokens lower."


def plan_pool(embed: EmbedSection, files: ModelFiles, units: int) -> PoolPlan:
    """Plan the actors for the connected cluster: one for each GPU, else one thread each as far as memory allows.

    Two actors with one thread each are faster than one with two (docs/embedding.md). An encoder that needs more
    memory than a CPU's share of it gets more CPUs for each actor instead.

    Raises:
        BenchcoreError: a GPU is asked for and there is none, or the encoder does not fit into memory.
    """
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    gpus, cpus = int(resources.get("GPU", 0)), cluster_cpus()
    if embed.encoder.device == "cuda" and not gpus:
        raise BenchcoreError(
            "is cuda, but the cluster has no GPU", where="embed.encoder.device", mend="Set it to auto or cpu."
        )
    if gpus and embed.encoder.device != "cpu":
        wanted = gpus if embed.workers == "auto" else min(embed.workers, gpus)
        return PoolPlan(max(1, min(wanted, units)), 1, "cuda")
    memory, need = resources.get("memory", math.inf), _BASE_BYTES + 2 * files.weight_bytes
    if need > memory:
        raise BenchcoreError(
            f"encoder {embed.encoder.name} needs {need / 1e9:.1f} GB of memory, the cluster has {memory / 1e9:.1f} GB",
            mend="Take a smaller encoder, or give the cluster more memory.",
        )
    threads = min(cpus, max(1, math.ceil(need / (memory / cpus))))
    most = cpus // threads
    wanted = most if embed.workers == "auto" else min(embed.workers, most)
    return PoolPlan(max(1, min(wanted, units)), threads, "cpu")


def _told(error: Any) -> Exception:
    """Turn what an actor raised into what a user can read; its traceback stays behind as the cause."""
    cause = error.cause
    if isinstance(cause, BenchcoreError | UnusableVectorsError):
        return cause
    lines = str(cause).strip().splitlines()
    return BenchcoreError(
        f"an encoding worker failed ({type(cause).__name__}{': ' + lines[-1] if lines else ''})",
        mend="--debug shows where; what was encoded is kept.",
    )


def _died(order: Order, error: Exception) -> BenchcoreError:
    return BenchcoreError(
        f"the worker that encodes unit {order.unit_id} ({len(order.texts)} texts) died {_ATTEMPTS} times "
        f"({str(error).splitlines()[0]})",
        mend=_MEND,
    )
