"""The core alone, on an array: pick rows that stand for all of them. No registry, no Spark, no Ray."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.weights import Benchmark, target_weights
from benchcore.methods import METHODS
from benchcore.methods.mass import group_shares, item_mass
from benchcore.methods.problem import Certificate, Indices, Problem, Selection, require_feasible


@dataclass(frozen=True, eq=False)
class PickResult:
    """Picked rows, in the order of picking.

    Attributes:
        indices: (k,) int64 row numbers.
        ids: (k,) their ids; row numbers as text where none were given.
        gains: (k,) increase of the objective with each pick.
        weights: (k,) what each pick's score counts in the estimate of the whole, summing to 1.
        value: the objective, in [0, 1].
        certificate: how far from optimal the picks can be at most, where the method says so.
        borrowed: groups without a pick, whose part of the weights others carry.
    """

    indices: Indices
    ids: tuple[str, ...]
    gains: NDArray[np.float64]
    weights: NDArray[np.float64]
    value: float
    certificate: Certificate | None
    borrowed: tuple[str, ...]


def pick(
    vectors: NDArray[Any],
    k: int,
    *,
    ids: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    mass: str | Mapping[str, float] | NDArray[np.float64] = "macro",
    balanced: bool = True,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    method: str = "facility_location",
    seed: int = 0,
) -> PickResult:
    """Pick k rows of an array.

    Args:
        vectors: (n, d) one embedding a row.
        k: how many to pick.
        ids: (n,) distinct names; ties between equal gains go to the smallest. Default: row numbers.
        groups: (n,) benchmark of each row. Default: all one.
        mass: `macro`, `micro`, a weight for each group, or (n,) weights of the rows.
        balanced: no group gets its next pick before every other that still has rows has as many.
        include: ids that come first.
        exclude: ids that are represented and not picked.
        method: a name in `benchcore.methods.METHODS`.
        seed: for methods that draw.

    Raises:
        UsageError: an argument is wrong; names the offending ids or figures.
    """
    if method not in METHODS:
        near = difflib.get_close_matches(method, METHODS, n=1)
        mend = f"Did you mean '{near[0]}'?" if near else f"There are {', '.join(METHODS)}."
        raise UsageError(f"unknown method '{method}'", mend=mend)
    rows = _matrix(vectors)
    names = _names(ids, len(rows))
    order = np.argsort(names, kind="stable") if ids is not None else np.arange(len(rows))
    benchmarks = _column(groups, len(rows), "groups")[order]
    mass = mass if isinstance(mass, str | Mapping) else _column(mass, len(rows), "mass", np.float64)[order]
    group_names, shares, item_masses = _masses(mass, benchmarks)
    problem = Problem(
        ids=names[order],
        groups=benchmarks,
        mass=item_masses,
        features={"embedding": rows[order] if ids is not None else rows},
        k=k,
        balanced=balanced,
        include=_positions(include, names[order], "include"),
        exclude=_positions(exclude, names[order], "exclude"),
        seed=seed,
    )
    require_feasible(problem)
    try:
        selection = METHODS[method](problem)
    except ValueError as error:
        raise UsageError(str(error), where="vectors", mend="Mend or leave out these rows.") from error
    return _result(selection, problem, order, group_names, shares)


def _result(
    selection: Selection, problem: Problem, order: Indices, group_names: NDArray[np.str_], shares: NDArray[np.float64]
) -> PickResult:
    suite = [Benchmark(str(name), "", float(share)) for name, share in zip(group_names, shares, strict=True)]
    weights = target_weights([str(group) for group in problem.groups[selection.indices]], suite)
    return PickResult(
        indices=order[selection.indices].astype(np.int64),
        ids=tuple(str(identity) for identity in problem.ids[selection.indices]),
        gains=selection.gains,
        weights=weights.targets["suite"],
        value=selection.value,
        certificate=selection.certificate,
        borrowed=weights.borrowed,
    )


def _matrix(vectors: NDArray[Any]) -> NDArray[np.float32]:
    array = np.asarray(vectors)
    if array.ndim != 2 or 0 in array.shape:
        raise UsageError(f"expected rows of numbers, got an array of shape {array.shape}", where="vectors")
    if array.dtype.kind not in "fiu":
        raise UsageError(f"expected real numbers, got {array.dtype}", where="vectors")
    with np.errstate(over="ignore"):  # too large for single precision becomes infinity, which is refused by name
        return np.ascontiguousarray(array, np.float32)


def _names(ids: Sequence[str] | None, n: int) -> NDArray[np.str_]:
    if ids is None:
        return np.arange(n).astype(np.str_)
    names = _column(ids, n, "ids")
    distinct, counts = np.unique(names, return_counts=True)
    if len(distinct) < n:
        raise UsageError(f"ids stand twice: {', '.join(distinct[counts > 1][:5])}", where="ids")
    return names


def _column(values: Any, n: int, name: str, dtype: Any = np.str_) -> NDArray[Any]:
    column = np.zeros(n, dtype) if values is None else np.asarray(values).astype(dtype)
    if column.shape != (n,):
        raise UsageError(f"expected one value a row ({n}), got {column.shape}", where=name)
    return column


def _masses(
    mass: str | Mapping[str, float] | NDArray[np.float64], groups: NDArray[np.str_]
) -> tuple[NDArray[np.str_], NDArray[np.float64], NDArray[np.float64]]:
    """Names of the groups, their shares and the mass of each row."""
    names, inverse = np.unique(groups, return_inverse=True)
    place = inverse.astype(np.int64)
    if isinstance(mass, str | Mapping):
        sizes = np.bincount(place).astype(np.float64)
        shares = group_shares(mass, names, sizes, names)
        return names, shares, item_mass(shares, place)
    if not (np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        raise UsageError("weights of rows must be finite, not negative and not all zero", where="mass")
    own = mass / mass.sum()
    own_shares = np.bincount(place, weights=own).astype(np.float64)
    return names, own_shares, own


def _positions(wanted: Sequence[str], names: NDArray[np.str_], key: str) -> Indices:
    where = {str(name): position for position, name in enumerate(names)} if len(wanted) else {}
    unknown = [str(identity) for identity in wanted if str(identity) not in where]
    if unknown:
        raise UsageError(f"unknown ids: {', '.join(unknown[:5])}", where=key)
    if len({str(identity) for identity in wanted}) != len(wanted):
        raise UsageError("an id stands twice", where=key)
    return np.array([where[str(identity)] for identity in wanted], np.int64)
