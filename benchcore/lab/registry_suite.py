"""A registry's own past scores as a suite: how good a coreset would have been on them."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchcore.errors import UsageError
from benchcore.lab.suite_files import scaled
from benchcore.lab.suites import Suite, lengths_of
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version, read

log = logging.getLogger(__name__)

Cells = Mapping[tuple[str, str], float]


def registry_suite(root: str | Path, scale: float | None = None, *, answers: bool = True) -> Suite:
    """Read the prompts of a registry that have scores, with the models that were scored on them.

    A prompt's score is the mean over runs and epochs, by the metric that most scores of its benchmark have; scores of
    an earlier content of the prompt do not count.

    Args:
        root: of the registry.
        scale: score of a perfect answer; None: scores lie in [0, 1].
        answers: whether answers belong to the texts.

    Raises:
        UsageError: it holds no scores of its present prompts, or scores outside their scale.
    """
    registry = Registry.at(root)
    if current_version(registry, "scores") is None:
        raise UsageError("holds no scores", where=registry.root)
    columns = ["prompt_id", "benchmark", "prompt", "answer", "choices", "content_hash", "retired_at"]
    prompts = {row["prompt_id"]: row for row in read(registry, "prompts", columns=columns).to_pylist()}
    cells = _cells(registry, {name: row for name, row in prompts.items() if row["retired_at"] is None})
    ids = sorted({prompt for prompt, _ in cells})
    models = sorted({model for _, model in cells})
    if not ids:
        raise UsageError("holds no scores of its present prompts", where=registry.root)
    scores = np.full((len(ids), len(models)), np.nan)
    row_of, column_of = ({name: place for place, name in enumerate(names)} for names in (ids, models))
    for (prompt, model), score in cells.items():
        scores[row_of[prompt], column_of[model]] = score
    texts = tuple(_text(prompts[prompt], answers=answers) for prompt in ids)
    return Suite(
        name=Path(registry.root).name,
        ids=np.array(ids, dtype=np.str_),
        groups=np.array([prompts[prompt]["benchmark"] for prompt in ids], dtype=np.str_),
        texts=texts,
        lengths=lengths_of(texts),
        scores=scaled(scores, scale, registry.root),
        models=tuple(models),
    )


def _cells(registry: Registry, prompts: Mapping[str, Mapping[str, Any]]) -> Cells:
    """Mean score of each prompt and model."""
    columns = ["model", "prompt_id", "metric", "content_hash", "score"]
    present = [
        row
        for row in read(registry, "scores", columns=columns).to_pylist()
        if row["score"] is not None
        and row["prompt_id"] in prompts
        and row["content_hash"] in (None, prompts[row["prompt_id"]]["content_hash"])
    ]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in present:
        counts[prompts[row["prompt_id"]]["benchmark"]][row["metric"]] += 1
    metric = {benchmark: min(found, key=lambda name: (-found[name], name)) for benchmark, found in counts.items()}
    for benchmark, found in sorted(counts.items()):
        if len(found) > 1:
            log.warning("%s: of the metrics %s, %s counts", benchmark, ", ".join(sorted(found)), metric[benchmark])
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in present:
        if row["metric"] == metric[prompts[row["prompt_id"]]["benchmark"]]:
            values[row["prompt_id"], row["model"]].append(row["score"])
    return {cell: float(np.mean(found)) for cell, found in values.items()}


def _text(prompt: Mapping[str, Any], *, answers: bool) -> str:
    parts = [
        prompt["prompt"],
        *(prompt["choices"] or ()),
        *([prompt["answer"]] if answers and prompt["answer"] else ()),
    ]
    return "\n".join(parts).strip()
