"""What a selection leaves in the registry: picks, their weights for every target, and the manifest that seals them."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from benchcore.distributed.pool import Pool
from benchcore.distributed.ways import blocks_of
from benchcore.estimation.weights import Benchmark, target_weights
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import replace_where
from benchcore.submodular.quantise import UNIT

_LIBRARIES = ("benchcore", "numpy", "pyarrow", "deltalake", "ray")


@dataclass(frozen=True, eq=False)
class Coreset:
    """A finished selection.

    Attributes:
        coreset_id: hash of all that changes picks.
        semantic: the semantic configuration, JSON-able.
        input_digest: hash of the selectable prompts.
        order: (k,) pool positions in the order of picking.
        gains: (k,) parts of `value`.
        roles: (k,) `core` or `audit`.
        probabilities: (k,) of inclusion, NaN where a pick was not drawn; None where none was.
        coverage: (n,) similarity of each pool row to its nearest pick, in whole numbers.
        nearest: (n,) which pick that is.
        shares: one Benchmark for each in the pool, sorted by name.
        value: the objective, in [0, 1].
        certificate: upper_bound, ratio and kind; None where there is none.
        centre: (d,) subtracted from every vector.
    """

    coreset_id: str
    semantic: Mapping[str, Any]
    input_digest: str
    order: NDArray[np.int64]
    gains: NDArray[np.float64]
    roles: NDArray[np.str_]
    probabilities: NDArray[np.float64] | None
    coverage: NDArray[np.float32]
    nearest: NDArray[np.int64]
    shares: tuple[Benchmark, ...]
    value: float
    certificate: Mapping[str, Any] | None
    centre: NDArray[np.float64]


def write(
    registry: Registry,
    pool: Pool,
    coreset: Coreset,
    *,
    run_id: str,
    pinned: Mapping[str, int],
    timings: Mapping[str, float],
    plan: Mapping[str, Any],
) -> None:
    """Write a coreset; a killed write is completed by the next, since the manifest comes last."""
    borrowed, weights = _weights(pool, coreset)
    blocks = blocks_of(coreset.semantic["method"], pool).items()
    replace_where(registry, "coresets", "coreset_id", coreset.coreset_id, _picks(pool, coreset))
    replace_where(registry, "coreset_weights", "coreset_id", coreset.coreset_id, weights)
    manifest = {
        "coreset_id": coreset.coreset_id,
        "semantic_configuration": _json(coreset.semantic),
        "input_digest": coreset.input_digest,
        "table_versions": _json(pinned),
        "encoders": _json({name: {"fingerprint": block.encoder, **block.description} for name, block in blocks}),
        "centre": coreset.centre.astype(np.float32),
        "seed": coreset.semantic["seed"],
        "k": len(coreset.order),
        "value": coreset.value,
        "certificate": None if coreset.certificate is None else _json(coreset.certificate),
        "coverage": _json(coverage_by_benchmark(pool, coreset, borrowed)),
        "library_versions": _json(library_versions()),
        "timings": _json({step: round(seconds, 3) for step, seconds in timings.items()}),
        "plan": _json(plan),
        "run_id": run_id,
    }
    rows = pa.Table.from_pylist([manifest], schema=SCHEMAS["manifests"])
    replace_where(registry, "manifests", "coreset_id", coreset.coreset_id, rows)


def coverage_by_benchmark(pool: Pool, coreset: Coreset, borrowed: tuple[str, ...]) -> list[dict[str, Any]]:
    """One object a benchmark: what it has, what was picked of it, and how near picks are to its prompts on average.

    Counts are of prompts, copies included, but for `distinct`; `coverage` is in [0, 1].
    """
    names, place = np.unique(pool.benchmark, return_inverse=True)

    def total(values: NDArray[Any]) -> NDArray[np.float64]:
        return np.bincount(place, weights=values, minlength=len(names)).astype(np.float64)

    copies = pool.copies.astype(np.float64)
    prompts, covered = total(copies), total(copies * coreset.coverage.astype(np.float64)) / UNIT
    distinct = np.bincount(place, minlength=len(names))
    picks = np.bincount(place[coreset.order], minlength=len(names))
    truncated, unknown = total(copies * pool.truncated), total(copies * pool.unknown_language)
    whole = sum(share.share for share in coreset.shares)
    return [
        {
            "benchmark": str(name),
            "category": coreset.shares[row].category,
            "prompts": int(prompts[row]),
            "distinct": int(distinct[row]),
            "picks": int(picks[row]),
            "mass": coreset.shares[row].share / whole,
            "coverage": float(covered[row] / prompts[row]),
            "borrowed": str(name) in borrowed,
            "truncated": int(truncated[row]),
            "unknown_language": int(unknown[row]),
        }
        for row, name in enumerate(names)
    ]


def library_versions() -> dict[str, str]:
    """Versions of what computed the picks."""
    found = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "unknown"
    return found


def _picks(pool: Pool, coreset: Coreset) -> pa.Table:
    k = len(coreset.order)
    represents = np.bincount(coreset.nearest, weights=pool.copies, minlength=k).astype(np.int64)
    return pa.table(
        {
            "coreset_id": [coreset.coreset_id] * k,
            "rank": np.arange(k, dtype=np.int32),
            "prompt_id": pool.prompt_id[coreset.order].tolist(),
            "content_hash": pool.content_hash[coreset.order].tolist(),
            "benchmark": pool.benchmark[coreset.order].tolist(),
            "gain": coreset.gains,
            "represents": represents,
            "role": coreset.roles.tolist(),
            "inclusion_probability": _or_null(coreset.probabilities, k),
        },
        schema=SCHEMAS["coresets"],
    )


def _or_null(probabilities: NDArray[np.float64] | None, k: int) -> pa.Array:
    return pa.nulls(k, pa.float64()) if probabilities is None else pa.array(probabilities, from_pandas=True)


def _weights(pool: Pool, coreset: Coreset) -> tuple[tuple[str, ...], pa.Table]:
    found = target_weights(pool.benchmark[coreset.order].tolist(), coreset.shares)
    ids = pool.prompt_id[coreset.order]
    rows = [
        {"coreset_id": coreset.coreset_id, "target": target, "prompt_id": str(identity), "weight": float(weight)}
        for target, weights in found.targets.items()
        for identity, weight in zip(ids, weights, strict=True)
        if weight > 0
    ]
    return found.borrowed, pa.Table.from_pylist(rows, schema=SCHEMAS["coreset_weights"])


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
