"""Work on tiles by as many threads as the linear algebra may use, each with a single-threaded BLAS of its own.

One pool of threads for products and loops alike: a BLAS that spins for its next product takes the cores from the
loops that follow it, which was measured to double the time of both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


class Threads:
    """Runs tasks on threads, which end with this object. The BLAS is as it was whenever no task runs."""

    def __init__(self) -> None:
        self._blas = ThreadpoolController().select(user_api="blas")
        self.count = max((library["num_threads"] for library in self._blas.info()), default=1)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.count)

    def each(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """The results of work on every task, in order; an interrupt leaves out those that have not begun."""
        with self._blas.limit(limits=1):
            if self.count == 1 or len(tasks) == 1:
                yield from map(work, tasks)
                return
            futures = deque(self._pool.submit(work, task) for task in tasks)
            try:
                while futures:
                    yield futures.popleft().result()  # a result is let go as soon as it is used
            finally:
                wait([future for future in futures if not future.cancel()])
