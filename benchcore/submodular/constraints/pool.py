"""Candidates by group: which are left, and which belong to groups that are open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Pool:
    """What may be picked, kept current by group: a change costs as much as the groups that it opens or closes.

    Args:
        groups: (n,) group number of each candidate, from 0.
        available: (n,) bool.
        size: number of groups.
    """

    def __init__(self, groups: NDArray[np.int64], available: NDArray[np.bool_], size: int) -> None:
        self.groups = groups
        self.available = available.copy()
        self.left = np.bincount(groups[available], minlength=size)  # candidates that each group still has
        self.allowed = np.zeros(len(groups), bool)  # available candidates of open groups
        self._open = np.zeros(size, bool)
        self._members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups, minlength=size))[:-1])

    def remove(self, candidates: NDArray[np.int64]) -> None:
        """Take candidates out for good; those that are not available stay so."""
        gone = candidates[self.available[candidates]]
        self.available[gone] = False
        self.allowed[gone] = False
        self.left -= np.bincount(self.groups[gone], minlength=len(self.left))

    def open_only(self, groups: NDArray[np.bool_]) -> bool:
        """Open these groups and close all others; says whether that opened any.

        Args:
            groups: (number of groups,) bool.
        """
        opened = np.flatnonzero(groups & ~self._open)
        for group in np.flatnonzero(self._open & ~groups):
            self.allowed[self._members[group]] = False
        for group in opened:
            self.allowed[self._members[group]] = self.available[self._members[group]]
        self._open = groups
        return bool(opened.size)

    def ranked(self, gains: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Available candidates, group by group with the largest gains first, and each one's place in its group."""
        candidates = np.flatnonzero(self.available)
        ranked = candidates[np.lexsort((-gains[candidates], self.groups[candidates]))]
        places = np.arange(len(ranked)) - (np.cumsum(self.left) - self.left)[self.groups[ranked]]
        return ranked, places
