"""Suites made up for tests, in which it is known what explains the scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchcore.estimation import ESTIMATORS
from benchcore.lab.compare import Field
from benchcore.methods import METHODS
from benchcore.methods.entry import Entry
from benchcore.methods.problem import Problem, Selection


def write_suite(
    folder: Path,
    scores: np.ndarray,
    groups: Sequence[str] | None = None,
    *,
    models: Sequence[str] | None = None,
    vectors: np.ndarray | None = None,
    edit: Callable[[list[dict[str, Any]]], None] = lambda _: None,
) -> Path:
    """Write a suite whose prompt i is called `p00i`, as Parquet, and tell its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"p{row:04d}" for row in range(len(scores))]
    groups = groups or ["only"] * len(ids)
    prompts = [
        {"prompt_id": identity, "prompt": f"What is {row} + {row % 7}?", "answer": str(row + row % 7), "task": group}
        for row, (identity, group) in enumerate(zip(ids, groups, strict=True))
    ]
    edit(prompts)
    (folder / "prompts.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    names = models or [f"m{column}" for column in range(scores.shape[1])]
    columns = {name: scores[:, column] for column, name in enumerate(names)}
    pq.write_table(pa.table({**columns, "prompt_id": ids}), folder / "correct.parquet")
    if vectors is not None:
        np.save(folder / "vectors.npy", vectors.astype(np.float32))
    return folder


def clustered(
    folder: Path,
    *,
    n: int = 240,
    models: int = 12,
    clusters: int = 20,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Path:
    """Write a suite of two benchmarks whose scores are settled by clusters that the vectors show."""
    generator = np.random.default_rng(seed)
    cluster = generator.integers(0, clusters, n)
    chances = generator.uniform(0.05, 0.95, (clusters, models))
    vectors = 5 * np.eye(clusters)[cluster] + 0.1 * generator.normal(size=(n, clusters))
    groups = ["even" if number % 2 else "odd" for number in cluster]
    return write_suite(folder, chances[cluster], groups, models=names, vectors=vectors)


def one_of_each_cluster(problem: Problem) -> Selection:
    """Pick in turn from the clusters of a planted suite, as its vectors show them, in proportion to their sizes."""
    cluster = problem.features["embedding"].argmax(axis=1)
    order = np.random.default_rng(problem.seed).permutation(problem.n)
    rank = np.empty(problem.n)
    for number in np.unique(cluster):
        members = order[cluster[order] == number]
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    indices = np.argsort(rank, kind="stable")[: problem.k].astype(np.int64)
    return Selection(indices, np.zeros(len(indices)), 0.0, None, np.full(len(indices), "core"))


def field(**methods: Entry) -> Field:
    """The control, some methods and the quickest estimators."""
    estimators = {name: ESTIMATORS[name] for name in ("macro", "plain", "own", "panel_difference")}
    return Field({"random": METHODS["random"], **methods}, estimators, ("planted", "macro"))


PLANTED: Mapping[str, Entry] = {"planted": Entry(one_of_each_cluster, ("embedding",), balances=False)}
