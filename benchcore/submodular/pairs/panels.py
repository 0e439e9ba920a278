"""How rows that are measured against all candidates are cut into pieces, and worked on by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.threads import Threads

Result = TypeVar("Result")

_CELLS = 2**21  # similarities that a thread has at a time: 8 MB
_MOST_ROWS = 4096  # and rows
_WAITING_BYTES = 2**26  # of results that may wait to be used, as far as they are one number a candidate
_LEAST_WAITING = 8  # panels a thread, so that threads seldom wait for each other


def panels(rows: NDArray[np.int64], candidates: int) -> list[NDArray[np.int64]]:
    """Cut rows into panels that are held against so many candidates."""
    step = max(1, min(_MOST_ROWS, _CELLS // max(candidates, 1)))
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def each_panel(
    work: Callable[[NDArray[np.int64]], Result], rows: NDArray[np.int64], candidates: int, threads: Threads | None
) -> Iterator[Result]:
    """The results of work on every panel, in order; a bounded number of them waits to be used.

    Args:
        work: on a panel.
        rows: to be cut into panels.
        candidates: how many.
        threads: to work on; default: this one.
    """
    pieces = panels(rows, candidates)
    if threads is None or threads.count == 1:
        yield from map(work, pieces)
        return
    many = max(_LEAST_WAITING * threads.count, _WAITING_BYTES // (8 * max(candidates, 1)))
    for start in range(0, len(pieces), many):
        yield from threads.each(work, pieces[start : start + many])
