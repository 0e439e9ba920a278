"""The process that measures one task of ours: `python -m infra.bench.child '{"n": 20000, "k": 200}'`."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import math
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infra.bench import data, values
from infra.bench.blas import kernels
from infra.bench.compiled import compiled
from infra.bench.memory import forget_peak, peak
from infra.bench.product import BLOCK, product_seconds
from infra.bench.task import Outcome, Task

_WARM_PICKS = 240  # enough to come to every compiled loop
_BUDGET = 40.0  # tokens a pick: greedy by gain per cost takes short ones, and then about k


def main(text: str) -> None:
    """Measure a task and write what was found as the last line."""
    task = Task.from_json(text)
    outcome = _product(task) if task.engine == "product" else _run(task)
    sys.stdout.write(outcome.to_json() + "\n")


def _product(task: Task) -> Outcome:
    rows = data.vectors(task.kind, task.n)
    return Outcome(seconds=product_seconds(rows, task.block), blas=kernels())


def _run(task: Task) -> Outcome:
    if task.tile:
        set_tiles(task.tile)
    import benchcore

    warm_up = _warm_up(task) if task.warm_rows else None
    rows, options = material(task)
    reference = product_seconds(rows, task.block or BLOCK) if task.product else None
    before = compiled()
    forget_peak()
    started = time.perf_counter()
    picks = benchcore.select(rows, **options)
    seconds, most = time.perf_counter() - started, peak()
    if task.warm_rows and compiled() != before:
        raise RuntimeError(f"{compiled() - before} loops were compiled in the run: {task.warm_rows} rows are too few")
    return Outcome(
        seconds=seconds,
        peak=most,
        value=values.value(task.objective, rows, picks.indices),
        picks=len(picks.indices),
        digest=digest(picks.ids),
        warm_up=warm_up,
        product=reference,
        blas=kernels(),
    )


def _warm_up(task: Task) -> float:
    """Seconds of the same on few rows, after which nothing is left to compile."""
    import benchcore

    small = dataclasses.replace(task, n=task.warm_rows, k=min(task.k, _WARM_PICKS))
    rows, options = material(small)
    started = time.perf_counter()
    benchcore.select(rows, **options)
    return time.perf_counter() - started


def material(task: Task) -> tuple[Any, dict[str, Any]]:
    """The rows, and the arguments of `benchcore.select`."""
    rows = data.features(task.n) if task.objective == "feature_based" else data.vectors(task.kind, task.n)
    options: dict[str, Any] = {"objective": task.objective, "mass": "micro", **_limits(task)}
    if task.objective != "feature_based":
        options["kernel"] = "cosine"
    if task.shuffled:
        order = np.random.default_rng(1).permutation(task.n)
        rows, options["ids"] = rows[order], [identity(row) for row in order]
    return rows, options


def _limits(task: Task) -> dict[str, Any]:
    if task.constraint == "knapsack":
        return {"costs": data.prices(task.n), "budget": _BUDGET * task.k}
    if task.constraint == "none":
        return {"k": task.k}
    members = data.groups(task.n)
    limits: dict[str, Any] = {"k": task.k, "groups": members}
    if task.constraint == "quotas":
        limits["quotas"] = _quotas(members, task.k / task.n)
    return limits


def _quotas(members: NDArray[np.int64], share: float) -> dict[str, tuple[int, int]]:
    """From half of a group's share of the picks to one and a half."""
    sizes = zip(*np.unique(members, return_counts=True), strict=True)
    return {str(group): (int(size * share / 2), math.ceil(1.5 * size * share)) for group, size in sizes}


def identity(row: object) -> str:
    """The id of a row: in the order of rows, so that ties go the same way with ids and without."""
    return f"{row:0>8}"


def digest(ids: tuple[str, ...]) -> str:
    """A hash of ids in their order."""
    return hashlib.sha256("\n".join(map(identity, ids)).encode()).hexdigest()[:16]


def set_tiles(side: int) -> None:
    """Cut pairs into other tiles and blocks; before anything has imported how large they are."""
    module = importlib.import_module("benchcore.submodular.pairs.tiles")
    for constant, size in {"SIDE": side, "_ROWS": 3 * side, "_CELLS": 500 * side}.items():
        getattr(module, constant)  # a new name would go unnoticed
        setattr(module, constant, size)


if __name__ == "__main__":
    main(sys.argv[1])
