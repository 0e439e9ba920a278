"""The core alone, on an array: pick rows that stand for all of them. No registry, no Spark, no Ray."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.weights import Benchmark, target_weights
from benchcore.machine import free_memory
from benchcore.methods.arguments import choice, flag, number, positive, whole
from benchcore.methods.columns import numbers
from benchcore.methods.limits import Bounds as GroupBounds
from benchcore.methods.limits import Limits, bounds_by_group, require_limits
from benchcore.methods.material import PRECOMPUTED, Comparison, Material, as_vectors
from benchcore.methods.memory import bytes_needed, require_memory
from benchcore.methods.names import require_known
from benchcore.methods.native import as_matrix, is_sparse, require_magnitude, require_single
from benchcore.methods.objectives_by_name import OBJECTIVES, QUERY_OBJECTIVES, make_objective, parameters_of
from benchcore.methods.optimizers_by_name import OPTIMIZERS, Plan, optimize, require_plan
from benchcore.methods.picks import Bounds, Picks
from benchcore.methods.pool import Indices, Mass, Pool, make_pool
from benchcore.methods.stratified_random import stratified_random
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.quantise import require_finite
from benchcore.submodular.similarities.kernels import DIRECTIONAL, KERNELS, require_usable

log = logging.getLogger(__name__)

RANDOM = "random"
_LEAST_EPSILON = 1e-3  # the work grows as 1 / epsilon
_LIGHTEST = 1e-3  # gains of a mixture are multiples of 2^-40
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
    include: Iterable[object] | None = (),
    exclude: Iterable[object] | None = (),
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
            the kernel `precomputed` (n, n), dense or sparse: [i, j] is the similarity of row i to candidate j.
        k: how many to pick. May be left out with a budget, quotas or cover, which then decide alone; beside a budget
            or cover it is a maximum.
        objective: `facility_location`, `saturated_coverage`, `graph_cut`, `feature_based`, `log_determinant`; with a
            query also `flqmi`, `flvmi`, `gcmi`, `com`, `logdetmi`; `random` (the control); or a weight for each of
            some, for their mixture.
        kernel: `centered_cosine`, `cosine`, `shifted_cosine`, `rbf`, `linear` or `precomputed`.
        power: sharpens the kernel, at least 1.
        bandwidth: of `rbf`; default: the median distance of up to 1,024 rows.
        ids: (n,) distinct names, each taken as text; ties between equal gains go to the smallest. Default: row numbers.
        groups: (n,) group (benchmark) of each row. Default: all one.
        mass: what rows count: `macro` (groups the same), `micro` (rows the same), a weight for each group (1 where
            none is given), or (n,) weights of the rows.
        balanced: no group gets its next pick before every other that still has rows has as many.
        quotas: {group: (low, high)} least and most picks, None for no limit, instead of balanced rounds. Without k,
            a budget or cover, all upper limits are filled.
        costs: (n,) positive price (tokens, money) of each row.
        budget: largest sum of costs. Needs the optimizer `lazy`.
        cover: stop as soon as this share of what all rows are worth is reached; needs `lazy` and no budget. Where k or
            quotas stop before it, that is logged.
        include: ids that come first, in this order.
        exclude: ids that are represented and not picked.
        query: (q, d) vectors that the picks should be near to.
        avoid: (p, d) vectors that the picks should add to (facility location).
        optimizer: `lazy`, `naive`, `stochastic`, `threshold` or `sieve_streaming` (slow: a state for each guess).
        epsilon: what the last three may give away, from 0.001 to 0.999.
        swaps: passes over the picks that exchange single ones, after the optimizer; not with a budget or cover.
        seed: for what draws.
        memory: bytes that may be used; default: what this machine has free.
        advance: gets a 1 for every pick, to show progress (`lazy` and `naive`; with a budget, of both runs).
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
    comparison = _comparison(kernel, power, bandwidth, query, avoid)
    _require_comparison(comparison, names, data)
    plan = _plan(optimizer, epsilon, seed, cover, swaps)
    pool = make_pool(data.shape[0], ids, groups, mass)
    prices = None if costs is None else pool.sorted(numbers(costs, pool.n, "costs"))
    out = pool.positions(exclude, "exclude")
    limits = Limits(
        pool=pool,
        k=_most(k, pool, out, quotas, decides=budget is None and cover is None),
        include=pool.positions(include, "include"),
        exclude=out,
        balanced=flag(balanced, "balanced"),
        quotas=quotas,
        costs=prices,
        budget=None if budget is None else number(budget, "budget", least=0.0),
    )
    require_limits(limits)
    require_plan(plan, limits)
    if advance is not None and not callable(advance):
        raise UsageError(f"must be a function, got {advance!r}", where="advance")
    constraint = limits.constraint()
    given = None if memory is None else int(number(memory, "memory", least=0.0))
    left = _require_memory(names, data, limits, comparison, given)
    if names == [RANDOM]:
        if quotas is not None or costs is not None or cover is not None:
            raise UsageError("random knows k and rounds, not quotas, costs or cover", where="objective")
        drawn = stratified_random(limits.problem(plan.seed))
        return _picks(pool, Greedy(drawn.indices, drawn.gains), 1.0, None)
    material = _material(data, pool, names, comparison, left)
    try:
        made = make_objective(objective, material, _sorted_features(parameters, pool))
        run, bounds = optimize(plan, made, limits, constraint, advance)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if not np.isfinite(run.gains).all():
        raise UsageError("gains exceed what double precision can hold", where="objective", mend="Lower its parameters.")
    if len(run.order) and not run.gains.any():
        log.warning("no pick raises the objective: all are tied, and the smallest ids come first")
    return _picks(pool, run, made.unit, _of_nothing(bounds) if cover is not None and not len(run.order) else bounds)


def _of_nothing(bounds: Bounds | None) -> Bounds | None:
    """Bounds of no picks at all: sets as small are worth nothing."""
    return None if bounds is None else replace(bounds, upper_bound=0.0, ratio=1.0)


def _names(objective: str | Mapping[str, float]) -> list[str]:
    """Names of the objective, or of a mixture's parts, whose weights are looked at too."""
    if isinstance(objective, str):
        return [choice(objective, (*OBJECTIVES, RANDOM), "objective")]
    if not (isinstance(objective, Mapping) and objective):
        raise UsageError(f"must be a name or {{name: weight}}, got {objective!r}", where="objective")
    weights = []
    for name, weight in objective.items():
        choice(name, OBJECTIVES, "objective")
        weights.append(number(weight, f"weight of {name}", least=0.0))
    if max(weights) < _LIGHTEST:
        raise UsageError(
            f"the largest weight of the mixture is {max(weights):g}, below {_LIGHTEST}",
            where="objective",
            mend="Multiply all weights by the same number.",
        )
    return list(objective)


def _comparison(kernel: Any, power: Any, bandwidth: Any, query: Any, avoid: Any) -> Comparison:
    """The kernel and what rows are compared with, each checked by itself."""
    choice(kernel, (*KERNELS, PRECOMPUTED), "kernel")
    others = []
    for vectors, name in ((query, "query"), (avoid, "avoid")):
        given = None if vectors is None else as_matrix(vectors, name)
        if given is not None and not is_sparse(given):
            require_single(given, name, range(len(given)), each=kernel in DIRECTIONAL)
        others.append(None if given is None else as_vectors(given, name))
    width = None if bandwidth is None else positive(bandwidth, "bandwidth")
    return Comparison(kernel, number(power, "power", least=1.0), width, *others)


def _plan(optimizer: Any, epsilon: Any, seed: Any, cover: Any, swaps: Any) -> Plan:
    return Plan(
        optimizer=choice(optimizer, OPTIMIZERS, "optimizer"),
        epsilon=number(epsilon, "epsilon", least=_LEAST_EPSILON, most=1 - _LEAST_EPSILON),
        seed=whole(seed, "seed", least=0),
        cover=None if cover is None else number(cover, "cover", least=0.0, most=1.0),
        sweeps=whole(swaps, "swaps", least=0),
    )


def _require_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse what is no argument at all: it is likely to be one with a slip in it."""
    own = [name for name in inspect.signature(select).parameters if name != "parameters"]
    known = {*own, *(parameter for name in OBJECTIVES for parameter in parameters_of(name))}
    for name in parameters:
        require_known(name, sorted(known), "argument")


def _require_comparison(comparison: Comparison, names: list[str], data: Any) -> None:
    """Refuse data that the kernel does not take, and vectors to compare with that would not be looked at."""
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


def _most(k: Any, pool: Pool, exclude: Indices, quotas: GroupBounds | None, *, decides: bool) -> int:
    """How many picks at most: k, or where it does not decide (alone) what the rows and the quotas allow."""
    wanted = None if k is None else whole(k, "k")
    if wanted is not None and (decides or wanted < 0):
        return wanted
    available = np.ones(pool.n, bool)
    available[exclude] = False
    sizes = np.bincount(pool.numbers[available], minlength=len(pool.names))
    most = int(np.minimum(sizes, bounds_by_group(pool, {} if quotas is None else quotas)[1]).sum())
    return most if wanted is None else min(wanted, most)


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
        require_magnitude(ordered, "embeddings")
        ordered = ordered if pool.order is None else ordered[:, pool.order]
        if not is_sparse(ordered) and ordered.dtype.kind == "f":
            _require("embeddings", require_finite, ordered, pool.ids)
    elif set(names) - {"feature_based"}:
        require_single(ordered, "embeddings", pool.ids, each=comparison.kernel in DIRECTIONAL)
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
