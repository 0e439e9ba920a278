"""The rows to pick from, as users describe them: ids, groups, mass; checked once, and sorted by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.methods.arguments import number
from benchcore.methods.columns import numbers, several, text, texts
from benchcore.methods.mass import group_shares, item_mass
from benchcore.methods.names import require_known
from benchcore.submodular.quantise import integer_mass

Indices = NDArray[np.int64]
Mass = str | Mapping[Any, float] | NDArray[np.floating] | Sequence[float]

_MODES = ("macro", "micro")


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

    def positions(self, wanted: Iterable[object] | None, key: str) -> Indices:
        """Positions of some ids, in the order given (of a set: of the ids).

        Raises:
            UsageError: an id is unknown or stands twice, or these are no ids.
        """
        ids = [text(identity) for identity in several(() if wanted is None else wanted, key)]
        if isinstance(wanted, AbstractSet):
            ids.sort()
        if not ids:
            return np.zeros(0, np.int64)
        where = {str(name): position for position, name in enumerate(self.ids)}
        unknown = [identity for identity in ids if identity not in where]
        if unknown:
            raise UsageError(f"unknown ids: {', '.join(unknown[:5])}", where=key)
        twice = sorted(identity for identity, count in Counter(ids).items() if count > 1)
        if twice:
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
    names = np.arange(n).astype(np.str_) if ids is None else _distinct(texts(ids, n, "ids"))
    order = None if ids is None else np.argsort(names, kind="stable").astype(np.int64)
    if order is not None and (np.diff(order) == 1).all():
        order = None
    members = np.zeros(n, np.str_) if groups is None else texts(groups, n, "groups")
    if order is not None:
        names, members = names[order], members[order]
    group_names, inverse = np.unique(members, return_inverse=True)
    members_of = inverse.astype(np.int64)
    if isinstance(mass, str | Mapping):
        shares = _shares(mass, group_names, np.bincount(members_of).astype(np.float64))
        own = item_mass(shares, members_of)
    else:
        own = _parts(numbers(mass, n, "mass"), "mass", "rows")
        own = own if order is None else own[order]
        shares = np.bincount(members_of, weights=own).astype(np.float64)
    return Pool(names, order, members, members_of, group_names, shares, own)


def _distinct(names: NDArray[np.str_]) -> NDArray[np.str_]:
    distinct, counts = np.unique(names, return_counts=True)
    if len(distinct) < len(names):
        raise UsageError(f"ids stand twice: {', '.join(distinct[counts > 1][:5])}", where="ids")
    return names


def _shares(
    mass: str | Mapping[Any, float], names: NDArray[np.str_], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(groups,) part of the whole that each group has, by name of the mode or by weight."""
    if isinstance(mass, str):
        require_known(mass, _MODES, "mass", "mass")
        return group_shares(mass, names, sizes, names)
    known = [str(name) for name in names]
    weights = np.ones(len(known))
    for group, weight in mass.items():
        require_group(group, known, "mass")
        weights[known.index(text(group))] = number(weight, f"mass of {text(group)}", least=0.0)
    return _parts(weights, "mass", "groups")


def require_group(group: object, known: Sequence[str], where: str) -> None:
    """Refuse the name of a group that no row has."""
    if list(known) == [""]:
        raise UsageError(f"names the group '{text(group)}', and rows have no groups", where=where, mend="Give groups.")
    require_known(text(group), known, "group", where)


def _parts(weights: NDArray[np.float64], where: str, whose: str) -> NDArray[np.float64]:
    """Weights as parts of their sum, however large or small."""
    largest = float(weights.max())
    if not (np.isfinite(weights).all() and (weights >= 0).all() and largest > 0):
        raise UsageError(f"weights of {whose} must be finite, not negative and not all zero", where=where)
    near_one = np.ldexp(weights, -int(np.frexp(largest)[1]))  # exact, so that the sum is a number
    parts: NDArray[np.float64] = near_one / near_one.sum()
    return parts
