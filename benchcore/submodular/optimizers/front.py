"""The candidates of the largest keys, so that a pick need not look at all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Keys = Callable[[NDArray[np.int64]], NDArray[np.float64]]

_SIZE = 2048


class Front:
    """Finds the allowed candidate of the largest key among few, as long as keys only fall."""

    def __init__(self) -> None:
        self._members = np.zeros(0, np.int64)
        self._outside = np.inf  # no candidate that is not a member has a larger key
        self._renewals = -1

    def look(
        self, allowed: NDArray[np.bool_], renewals: int, keys_of: Keys, ceilings_of: Keys
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Allowed candidates in ascending order, and their keys; the largest of all keys is there, with its equals.

        Args:
            allowed: (n,) bool.
            renewals: changes when `allowed` may have grown.
            keys_of: current keys of some candidates.
            ceilings_of: what the keys of some candidates never exceed again.
        """
        if renewals == self._renewals:
            members = self._members[allowed[self._members]]
            keys = keys_of(members)
            if members.size and keys.max() > self._outside:
                return members, keys
        self._renewals = renewals
        self._rebuild(allowed, ceilings_of)
        keys = keys_of(self._members)
        if self._members.size and keys.max() <= self._outside:
            self._rebuild(
                allowed, ceilings_of, float(keys.max())
            )  # a measured key lies below its ceiling where there is slack
            keys = keys_of(self._members)
        return self._members, keys

    def _rebuild(self, allowed: NDArray[np.bool_], ceilings_of: Keys, least: float = np.inf) -> None:
        """Let in the largest ceilings, and all that are at least `least`."""
        pool = np.flatnonzero(allowed)
        self._members, self._outside = pool, -np.inf
        if len(pool) > _SIZE:
            ceilings = ceilings_of(pool)
            least = min(least, np.partition(ceilings, len(pool) - _SIZE)[len(pool) - _SIZE])
            inside = ceilings >= least
            self._members = pool[inside]
            self._outside = float(ceilings[~inside].max(initial=-np.inf))
