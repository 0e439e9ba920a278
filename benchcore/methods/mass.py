"""How much each item counts: every benchmark the same, every prompt the same, categories first, or the user's own."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError

Mode = str | Mapping[str, float]


def group_shares(
    mode: Mode, names: NDArray[np.str_], sizes: NDArray[np.float64], categories: NDArray[np.str_]
) -> NDArray[np.float64]:
    """Part of the whole that each group (benchmark) has.

    Args:
        mode: `macro` (equal), `micro` (by size), `category` (categories equal, their groups equal inside), or a
            mapping from group to a weight that is not negative; groups that it does not name weigh 1.
        names: (groups,) distinct.
        sizes: (groups,) items of each, copies counted.
        categories: (groups,) category of each.

    Returns:
        (groups,) summing to 1.

    Raises:
        UsageError: the mode is unknown, names a group that does not exist, or leaves no mass at all.
    """
    shares: NDArray[np.float64]
    if isinstance(mode, Mapping):
        shares = _own(mode, names)
    elif mode == "macro":
        shares = np.ones(len(names))
    elif mode == "micro":
        shares = sizes.astype(np.float64)
    elif mode == "category":
        _, place, members = np.unique(categories, return_inverse=True, return_counts=True)
        shares = 1.0 / members[place]
    else:
        raise UsageError(f"unknown mass '{mode}'", mend="It is macro, micro, category, or a weight for each benchmark.")
    shares /= shares.sum()
    return shares


def item_mass(
    shares: NDArray[np.float64], groups: NDArray[np.int64], copies: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Divide each group's share among its items, by their copies.

    Args:
        shares: (groups,) of `group_shares`.
        groups: (n,) group number of each item.
        copies: (n,) positive; default: 1 each.

    Returns:
        (n,) mass, summing to 1.
    """
    copies = np.ones(len(groups)) if copies is None else copies
    sizes = np.bincount(groups, weights=copies, minlength=len(shares))
    mass: NDArray[np.float64] = copies * (shares / np.where(sizes > 0, sizes, 1.0))[groups]
    return mass


def _own(weights: Mapping[str, float], names: NDArray[np.str_]) -> NDArray[np.float64]:
    known = [str(name) for name in names]
    for name in sorted(set(weights) - set(known)):
        near = difflib.get_close_matches(name, known, n=1)
        mend = f"Did you mean '{near[0]}'?" if near else "It may be filtered out."
        raise UsageError(f"mass names '{name}', which has no prompt to pick", where="select.mass", mend=mend)
    shares = np.array([float(weights.get(name, 1.0)) for name in known])
    if shares.sum() <= 0:
        raise UsageError("every benchmark weighs nothing", where="select.mass", mend="Give one a positive weight.")
    return shares
