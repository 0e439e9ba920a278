"""Compiling loops with a cache that can only save time. Imported only where something is compiled."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

log = logging.getLogger(__name__)


class _ForgivingCache(FunctionCache):
    """Compiles anew, and says so, where what was kept is damaged or nothing can be kept (a full disk)."""

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever a damaged file makes of unpickling it
            log.warning(
                "the compiler's cache in %s is of no use now: %s", self.cache_path, error or type(error).__name__
            )
            with contextlib.suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]  # so that the next one can be kept


def compiled(*, fastmath: set[str] | bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function at its first call, without the interpreter's lock, and keep the result beside its source.

    Where neither that folder nor the user's cache can be written, nothing is kept. NUMBA_CACHE_DIR names another place.

    Args:
        fastmath: numba's; only for sums that are exact in any order.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher: Any = njit(nogil=True, fastmath=fastmath)(function)
        try:
            dispatcher._cache = _ForgivingCache(function)  # type: ignore[no-untyped-call]
        except RuntimeError as error:  # no place for a cache
            log.debug("compiled loops are not kept: %s", error)
        loops: Callable[..., Any] = dispatcher
        return loops

    return decorate
