"""Work on tiles by as many threads as the linear algebra may use, each with a single-threaded BLAS of its own.

One pool of threads for products and loops alike: a BLAS that spins for its next product takes the cores from the
loops that follow it, which was measured to double the time of both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cached_property
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


class _SingleThreadedBlas:
    """Keeps the linear algebra to one thread while any caller is inside, in whatever thread of the process.

    How many threads it has is a property of the process, so this is one too: callers that came and went on their own
    would put back each other's settings.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limiter: ThreadpoolController | None = None
        self._threads = 1

    def threads(self) -> int:
        """How many threads it has while nobody is inside."""
        with self._lock:
            return self._threads if self._inside else _blas_threads(ThreadpoolController())

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                controller = ThreadpoolController()
                self._threads = _blas_threads(controller)
                self._limiter = controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._limiter is not None:
                self._limiter.restore_original_limits()


_single_threaded_blas = _SingleThreadedBlas()


def single_threaded_blas() -> AbstractContextManager[None]:
    """Keep the linear algebra to one thread, so that the last bits of its sums depend on no number of cores.

    `Threads` has as many threads inside as outside.
    """
    return _single_threaded_blas


def _blas_threads(controller: ThreadpoolController) -> int:
    return max((int(library["num_threads"]) for library in controller.select(user_api="blas").info()), default=1)


class Threads:
    """Runs tasks on threads, which end with this object. The BLAS is as it was whenever no task runs."""

    def __init__(self) -> None:
        self.count = _single_threaded_blas.threads()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.count)

    def each(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """The results of work on every task, in order; an interrupt leaves out those that have not begun."""
        with _single_threaded_blas:
            if self.count == 1 or len(tasks) == 1:
                yield from map(work, tasks)
                return
            futures = deque(self._pool.submit(work, task) for task in tasks)
            try:
                while futures:
                    yield futures.popleft().result()  # a result is let go as soon as it is used
            finally:
                wait([future for future in futures if not future.cancel()])
