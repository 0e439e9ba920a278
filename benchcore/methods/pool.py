"""The rows to pick from, as users describe them: ids, groups, mass; checked once, and sorted by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.methods.mass import group_shares, item_mass
from benchcore.submodular.quantise import integer_mass

Indices = NDArray[np.int64]
Mass = str | Mapping[str, float] | NDArray[np.floating] | Sequence[float]


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows sorted by id, so that nothing depends on the order they came in.

    Attributes:
        ids: (n,) distinct, ascending; row numbers as text, in the order of the rows, where none were given.
        order: (n,) the caller's row number of each; None where that is the same.
        groups: (n,) group name of each.
        numbers: (n,) group number of each, in order of name.
        names: (groups,) distinct, ascending.
        shares: (groups,) part of the whole that each group has, summing to 1.
        mass: (n,) part of the whole that each row has, summing to 1.
    """

    ids: NDArray[np.str_]
    order: Indices | None
    groups: NDArray[np.str_]
    numbers: Indices
    names: NDArray[np.str_]
    shares: NDArray[np.float64]
    mass: NDArray[np.float64]

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    @property
    def whole_mass(self) -> NDArray[np.float64]:
        """(n,) the mass in whole numbers."""
        return integer_mass(self.mass, self.numbers)

    def sorted(self, rows: Any) -> Any:
        """Rows of the caller (an array or a sparse matrix), in the order of the ids."""
        return rows if self.order is None else rows[self.order]

    def callers(self, positions: Indices) -> Indices:
        """The caller's row numbers of some positions."""
        return positions.astype(np.int64) if self.order is None else self.order[positions].astype(np.int64)

    def positions(self, wanted: Sequence[object], key: str) -> Indices:
        """Positions of some ids, in the order given.

        Raises:
            UsageError: an id is unknown or stands twice.
        """
        if not len(wanted):
            return np.zeros(0, np.int64)
        ids = [str(identity) for identity in wanted]
        where = {str(name): position for position, name in enumerate(self.ids)}
        unknown = [identity for identity in ids if identity not in where]
        if unknown:
            raise UsageError(f"unknown ids: {', '.join(unknown[:5])}", where=key)
        if len(set(ids)) != len(ids):
            twice = sorted({identity for identity in ids if ids.count(identity) > 1})
            raise UsageError(f"ids stand twice: {', '.join(twice[:5])}", where=key)
        return np.array([where[identity] for identity in ids], np.int64)


def make_pool(n: int, ids: Sequence[object] | None, groups: Sequence[object] | None, mass: Mass) -> Pool:
    """Describe n rows.

    Args:
        n: how many.
        ids: (n,) distinct names; default: row numbers.
        groups: (n,) group of each row; default: all one.
        mass: `macro` (groups the same), `micro` (rows the same), a weight for each group, or (n,) weights of the rows.

    Raises:
        UsageError: lengths differ, an id stands twice, or the mass is none.
    """
    names = np.arange(n).astype(np.str_) if ids is None else _distinct(column(ids, n, "ids", np.str_))
    order = None if ids is None else np.argsort(names, kind="stable").astype(np.int64)
    if order is not None and (np.diff(order) == 1).all():
        order = None
    members = np.zeros(n, np.str_) if groups is None else column(groups, n, "groups", np.str_)
    if order is not None:
        names, members = names[order], members[order]
    group_names, inverse = np.unique(members, return_inverse=True)
    numbers = inverse.astype(np.int64)
    if isinstance(mass, str | Mapping):
        shares = group_shares(mass, group_names, np.bincount(numbers).astype(np.float64), group_names)
        own = item_mass(shares, numbers)
    else:
        own = _own_mass(column(mass, n, "mass", np.float64))
        own = own if order is None else own[order]
        shares = np.bincount(numbers, weights=own).astype(np.float64)
    return Pool(names, order, members, numbers, group_names, shares, own)


def column(values: Any, n: int, name: str, dtype: Any) -> NDArray[Any]:
    """One value a row, of a type.

    Raises:
        UsageError: there are not n, or they are not of the type.
    """
    try:
        array = np.asarray(values).astype(dtype)
    except (TypeError, ValueError):
        raise UsageError("expected numbers", where=name) from None
    if array.shape != (n,):
        raise UsageError(f"expected one value a row ({n}), got {array.shape}", where=name)
    return array


def _distinct(names: NDArray[np.str_]) -> NDArray[np.str_]:
    distinct, counts = np.unique(names, return_counts=True)
    if len(distinct) < len(names):
        raise UsageError(f"ids stand twice: {', '.join(distinct[counts > 1][:5])}", where="ids")
    return names


def _own_mass(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    if not (np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        raise UsageError("weights of rows must be finite, not negative and not all zero", where="mass")
    own: NDArray[np.float64] = mass / mass.sum()
    return own
