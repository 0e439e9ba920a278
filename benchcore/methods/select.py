"""The core alone, on an array: pick rows that stand for all of them. No registry, no Spark, no Ray."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.weights import Benchmark, target_weights
from benchcore.machine import free_memory
from benchcore.methods.limits import Bounds as GroupBounds
from benchcore.methods.limits import Limits, bounds_by_group, require_limits
from benchcore.methods.material import PRECOMPUTED, Comparison, Material, as_matrix, as_vectors, is_sparse
from benchcore.methods.memory import bytes_needed, require_memory
from benchcore.methods.names import require_known
from benchcore.methods.objectives_by_name import OBJECTIVES, QUERY_OBJECTIVES, make_objective, parameters_of
from benchcore.methods.optimizers_by_name import Plan, optimize, require_plan
from benchcore.methods.picks import Bounds, Picks
from benchcore.methods.pool import Indices, Mass, Pool, column, make_pool
from benchcore.methods.stratified_random import stratified_random
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.quantise import require_finite
from benchcore.submodular.similarities.kernels import KERNELS, require_usable

RANDOM = "random"
_KEPT = 12 * 2**30  # what objectives keep at most beside the rows, however much is free


def select(
    embeddings: Any,
    k: int | None = None,
    *,
    objective: str | Mapping[str, float] = "facility_location",
    kernel: str = "centered_cosine",
    power: float = 1.0,
    bandwidth: float | None = None,
    ids: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
    mass: Mass = "macro",
    balanced: bool = True,
    quotas: GroupBounds | None = None,
    costs: Sequence[float] | NDArray[np.floating] | None = None,
    budget: float | None = None,
    cover: float | None = None,
    include: Sequence[object] = (),
    exclude: Sequence[object] = (),
    query: Any = None,
    avoid: Any = None,
    optimizer: str = "lazy",
    epsilon: float = 0.1,
    swaps: int = 0,
    seed: int = 0,
    memory: int | None = None,
    advance: Callable[[int], None] | None = None,
    **parameters: Any,
) -> Picks:
    """Pick rows of an array that stand for all of them.

    The same rows give the same picks to the last bit, with any number of threads and, where ids are given, in any
    order. With the default optimizer a smaller k gives a prefix, except with quotas, a budget or swaps.

    Args:
        embeddings: (n, d) one vector a row, of any real type; for `feature_based` not negative, dense or sparse; for
            the kernel `precomputed` (n, n) similarities, dense or sparse.
        k: how many to pick. May be left out with a budget, quotas or cover, which then decide alone.
        objective: `facility_location`, `saturated_coverage`, `graph_cut`, `feature_based`, `log_determinant`; with a
            query also `flqmi`, `flvmi`, `gcmi`, `com`, `logdetmi`; `random` (the control); or a weight for each of
            some, for their mixture.
        kernel: `centered_cosine`, `cosine`, `shifted_cosine`, `rbf`, `linear` or `precomputed`.
        power: sharpens the kernel, at least 1.
        bandwidth: of `rbf`; default: the median distance.
        ids: (n,) distinct names; ties between equal gains go to the smallest. Default: row numbers.
        groups: (n,) group (benchmark) of each row. Default: all one.
        mass: what rows count: `macro` (groups the same), `micro` (rows the same), a weight for each group, or (n,)
            weights of the rows.
        balanced: no group gets its next pick before every other that still has rows has as many.
        quotas: {group: (low, high)} least and most picks, None for no limit, instead of balanced rounds.
        costs: (n,) positive price (tokens, money) of each row.
        budget: largest sum of costs.
        cover: stop as soon as this share of what all rows are worth is reached.
        include: ids that come first, in this order.
        exclude: ids that are represented and not picked.
        query: (q, d) vectors that the picks should be near to.
        avoid: (p, d) vectors that the picks should add to (facility location).
        optimizer: `lazy`, `naive`, `stochastic`, `threshold` or `sieve_streaming`.
        epsilon: what the last three may give away.
        swaps: passes over the picks that exchange single ones, after the optimizer.
        seed: for what draws.
        memory: bytes that may be used; default: what this machine has free.
        advance: told of every pick, to show progress (`lazy` and `naive`).
        **parameters: of the objective, as `benchcore.methods.objectives_by_name` has them: `nu`, `saturation`,
            `redundancy`, `concave`, `feature_weights`, `features`, `scale`, `eta`, `lam`, `psi`, `ridge`.

    Raises:
        UsageError: an argument is wrong, or the selection would not fit into memory; names the ids or the figures.
    """
    if k is None and budget is None and quotas is None and cover is None:
        raise UsageError("how many to pick is not said", where="k", mend="Give k, budget, quotas or cover.")
    data = as_matrix(embeddings, "embeddings")
    names = _names(objective)
    _require_parameters(parameters)
    others = (
        None if vectors is None else as_vectors(vectors, name) for vectors, name in ((query, "query"), (avoid, "avoid"))
    )
    comparison = Comparison(kernel, power, bandwidth, *others)
    _require_comparison(comparison, names, data)
    pool = make_pool(data.shape[0], ids, groups, mass)
    prices = None if costs is None else pool.sorted(column(costs, pool.n, "costs", np.float64))
    out = pool.positions(exclude, "exclude")
    limits = Limits(
        pool=pool,
        k=_all(pool, out, quotas) if k is None else _whole(k),
        include=pool.positions(include, "include"),
        exclude=out,
        balanced=balanced,
        quotas=quotas,
        costs=prices,
        budget=budget,
    )
    require_limits(limits)
    plan = Plan(optimizer, epsilon, seed, cover, swaps)
    require_plan(plan, limits)
    constraint = limits.constraint()
    left = _require_memory(names, data, limits, comparison, memory)
    if names == [RANDOM]:
        if quotas is not None or costs is not None or cover is not None:
            raise UsageError("random knows k and rounds, not quotas, costs or cover", where="objective")
        drawn = stratified_random(limits.problem(seed))
        return _picks(pool, Greedy(drawn.indices, drawn.gains), 1.0, None)
    material = _material(data, pool, names, comparison, left)
    try:
        made = make_objective(objective, material, _sorted_features(parameters, pool))
        run, bounds = optimize(plan, made, limits, constraint, advance)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return _picks(pool, run, made.unit, bounds)


def _names(objective: str | Mapping[str, float]) -> list[str]:
    names = [objective] if isinstance(objective, str) else list(objective)
    for name in names:
        known = (*OBJECTIVES, RANDOM) if isinstance(objective, str) else OBJECTIVES
        require_known(name, known, "objective", "objective")
    return names


def _require_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse what is no argument at all: it is likely to be one with a slip in it."""
    own = [name for name in inspect.signature(select).parameters if name != "parameters"]
    known = {*own, *(parameter for name in OBJECTIVES for parameter in parameters_of(name))}
    for name in parameters:
        require_known(name, sorted(known), "argument")


def _require_comparison(comparison: Comparison, names: list[str], data: Any) -> None:
    """Refuse a kernel that is none, and vectors to compare with that would not be looked at."""
    require_known(comparison.kernel, (*KERNELS, PRECOMPUTED), "kernel", "kernel")
    if not comparison.given and set(names) - {"feature_based", RANDOM} and is_sparse(data):
        raise UsageError(
            "a kernel needs dense vectors, got a sparse matrix",
            where="embeddings",
            mend="Use objective='feature_based', kernel='precomputed', or .toarray().",
        )
    if comparison.given and data.shape[0] != data.shape[1]:
        raise UsageError(
            f"a precomputed kernel is square, got {data.shape}",
            where="embeddings",
            mend="Name another kernel to compute similarities from vectors.",
        )
    others = (("query", comparison.query, QUERY_OBJECTIVES), ("avoid", comparison.avoid, ("facility_location",)))
    for name, vectors, users in others:
        if vectors is not None and comparison.given:
            raise UsageError("needs vectors, and the kernel is precomputed", where=name)
        if vectors is not None and not set(users) & set(names):
            raise UsageError(f"is used by {', '.join(users)}, not by {', '.join(names)}", where=name)


def _whole(k: Any) -> int:
    try:
        return operator.index(k)
    except TypeError:
        raise UsageError(f"must be a whole number, got {k!r}", where="k") from None


def _all(pool: Pool, exclude: Indices, quotas: GroupBounds | None) -> int:
    """The largest number of picks, where k does not say it: all, or what the quotas allow."""
    available = np.ones(pool.n, bool)
    available[exclude] = False
    sizes = np.bincount(pool.numbers[available], minlength=len(pool.names))
    return int(np.minimum(sizes, bounds_by_group(pool, quotas or {})[1]).sum())


def _require_memory(names: list[str], data: Any, limits: Limits, comparison: Comparison, memory: int | None) -> int:
    """Refuse a selection that does not fit; gives what is left for what only makes it faster."""
    n, d = data.shape
    copied = 0 if limits.pool.order is None else _bytes(data) * (2 if comparison.given else 1)
    if not comparison.given and set(names) - {"feature_based", RANDOM}:
        as_it_is = data.dtype == np.float32 and (limits.pool.order is not None or data.flags.c_contiguous)
        copied += 0 if as_it_is else 4 * n * d
    compared = sum(len(vectors) for vectors in (comparison.query, comparison.avoid) if vectors is not None)
    needed = bytes_needed(names, n, d, limits.k, kernel=comparison.kernel, copied=copied, compared=compared)
    available = free_memory() if memory is None else memory
    require_memory(needed, available)
    return _KEPT if available is None else min(_KEPT, (available - needed) * 4 // 5)


def _bytes(data: Any) -> int:
    if is_sparse(data):
        return int(data.data.nbytes + data.indices.nbytes + data.indptr.nbytes)
    return int(data.nbytes)


def _material(data: Any, pool: Pool, names: list[str], comparison: Comparison, memory: int) -> Material:
    ordered = pool.sorted(data)
    if comparison.given:
        ordered = ordered if pool.order is None else ordered[:, pool.order]
        if not is_sparse(ordered) and ordered.dtype.kind == "f":
            _require("embeddings", require_finite, ordered, pool.ids)
    elif set(names) - {"feature_based"}:
        ordered = as_vectors(ordered, "embeddings")
        _require("embeddings", require_usable, ordered, comparison.kernel, pool.ids)
    for vectors, name in ((comparison.query, "query"), (comparison.avoid, "avoid")):
        if vectors is not None:
            _require(name, require_usable, vectors, comparison.kernel)
    return Material(ordered, pool.ids, pool.whole_mass, comparison, memory)


def _require(where: str, check: Callable[..., object], *inputs: Any) -> None:
    try:
        check(*inputs)
    except ValueError as error:
        raise UsageError(str(error), where=where, mend="Mend or leave out these rows.") from error


def _sorted_features(parameters: Mapping[str, Any], pool: Pool) -> dict[str, Any]:
    """The parameters, with features in the order of the ids."""
    if parameters.get("features") is None:
        return dict(parameters)
    features = as_matrix(parameters["features"], "features")
    if features.shape[0] != pool.n:
        raise UsageError(f"expected a row for each of {pool.n}, got shape {features.shape}", where="features")
    return {**parameters, "features": pool.sorted(features)}


def _picks(pool: Pool, run: Greedy, unit: float, bounds: Bounds | None) -> Picks:
    suite = [Benchmark(str(name), "", float(share)) for name, share in zip(pool.names, pool.shares, strict=True)]
    weights, borrowed = np.zeros(0), tuple(sorted(str(name) for name in pool.names))
    if len(run.order):
        found = target_weights([str(group) for group in pool.groups[run.order]], suite)
        weights, borrowed = found.targets["suite"], found.borrowed
    return Picks(
        indices=pool.callers(run.order),
        ids=tuple(str(identity) for identity in pool.ids[run.order]),
        gains=run.gains / unit,
        value=float(run.gains.cumsum()[-1]) / unit if len(run.order) else 0.0,
        weights=weights,
        certificate=bounds,
        borrowed=borrowed,
    )
