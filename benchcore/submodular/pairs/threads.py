"""Work on tiles by as many threads as the linear algebra may use, each with a single-threaded BLAS of its own.

One pool of threads for products and loops alike: a BLAS that spins for its next product takes the cores from the
loops that follow it, which was measured to double the time of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


class Threads:
    """Runs tasks on threads. The BLAS is as it was whenever no task runs."""

    def __init__(self) -> None:
        self._blas = ThreadpoolController().select(user_api="blas")
        self.count = max((library["num_threads"] for library in self._blas.info()), default=1)

    def each(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """The results of work on every task, in order; an interrupt leaves out those that have not begun."""
        with self._blas.limit(limits=1):
            if self.count == 1 or len(tasks) == 1:
                yield from map(work, tasks)
                return
            with _pool(min(self.count, len(tasks))) as pool:
                yield from pool.map(work, tasks)


@contextmanager
def _pool(size: int) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(size)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
