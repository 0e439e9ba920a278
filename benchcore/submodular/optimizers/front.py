"""The candidates of the largest keys, so that a pick need not look at all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_SIZE = 2048


class Front:
    """Finds the allowed candidate of the largest key among few, as long as keys only fall.

    Args:
        keys: current keys of some candidates.
        ceilings: what the keys of some candidates never exceed again.
    """

    def __init__(
        self,
        keys: Callable[[NDArray[np.int64]], NDArray[np.float64]],
        ceilings: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    ) -> None:
        self._keys, self._ceilings = keys, ceilings
        self._members = np.zeros(0, np.int64)
        self._outside = np.inf  # no candidate that is not a member has a larger key
        self._renewals = -1

    def look(self, allowed: NDArray[np.bool_], renewals: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Allowed candidates in ascending order, and their keys; the largest of all keys is there, with its equals.

        Args:
            allowed: (n,) bool.
            renewals: changes when `allowed` may have grown.
        """
        if renewals == self._renewals:
            members = self._members[allowed[self._members]]
            keys = self._keys(members)
            if members.size and keys.max() > self._outside:
                return members, keys
        self._renewals = renewals
        self._rebuild(allowed)
        keys = self._keys(self._members)
        if self._members.size and keys.max() <= self._outside:
            self._rebuild(allowed, float(keys.max()))  # a measured key lies below its ceiling where there is slack
            keys = self._keys(self._members)
        return self._members, keys

    def _rebuild(self, allowed: NDArray[np.bool_], least: float = np.inf) -> None:
        """Let in the largest ceilings, and all that are at least `least`."""
        pool = np.flatnonzero(allowed)
        self._members, self._outside = pool, -np.inf
        if len(pool) > _SIZE:
            ceilings = self._ceilings(pool)
            least = min(least, np.partition(ceilings, len(pool) - _SIZE)[len(pool) - _SIZE])
            inside = ceilings >= least
            self._members = pool[inside]
            self._outside = float(ceilings[~inside].max(initial=-np.inf))
