"""Registries with a coreset and scores of known models, written as the steps of the pipeline leave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from benchcore.estimation.weights import Benchmark, target_weights
from benchcore.registry.manifests import Manifest, find_manifest
from benchcore.registry.root import Registry
from benchcore.scoring.matrix import Wanted
from tests.registry.stored import prompt, store

CORESET = "c0ffee"


@dataclass(frozen=True, eq=False)
class Planted:
    """A suite whose true scores are known.

    Attributes:
        registry: with prompts, one coreset and, where stored, scores.
        prompts: rows of `prompts`, (n,).
        picks: (k,) which of them are picked.
    """

    registry: Registry
    prompts: Sequence[Mapping[str, Any]]
    picks: NDArray[np.int64]

    @property
    def manifest(self) -> Manifest:
        found = find_manifest(self.registry, CORESET)
        assert found is not None
        return found

    @property
    def pool(self) -> Wanted:
        return Wanted(
            *(tuple(row[name] for row in self.prompts) for name in ("prompt_id", "content_hash", "benchmark"))
        )

    def score(self, model: str, scores: Mapping[int, float | None] | Sequence[float], **values: Any) -> None:
        """Store scores of prompts by their number; a sequence has one for each pick."""
        cells = scores if isinstance(scores, Mapping) else dict(zip(self.picks.tolist(), scores, strict=True))
        store(self.registry, "scores", [self.row(model, number, score, **values) for number, score in cells.items()])

    def row(self, model: str, number: int, score: float | None, **values: Any) -> dict[str, Any]:
        own = self.prompts[number]
        common = {"model": model, "prompt_id": own["prompt_id"], "run": "2026-01-01", "metric": "acc", "epoch": 1}
        rest = {"content_hash": own["content_hash"], "score": score, "raw_score": str(score), "filter": "none"}
        return common | rest | {"harness": "jsonl", "source_path": "log.jsonl"} | values


def planted(
    root: Path,
    sizes: Mapping[str, int],
    picked: Mapping[str, int],
    *,
    categories: Mapping[str, str] | None = None,
    method: str = "nested_swaps",
    audit: int = 0,
    seed: int = 0,
    **semantic: Any,
) -> Planted:
    """A suite of benchmarks of some sizes, with the first prompts of each picked (drawn at random where `method` is).

    Args:
        root: of the registry.
        sizes: benchmark -> prompts.
        picked: benchmark -> picks.
        categories: benchmark -> category; without: all `general`.
        method: that is said to have picked.
        audit: so many of each benchmark's picks are of the audit.
        seed: of the draw.
        semantic: further keys of the semantic configuration.
    """
    registry = Registry.at(root)
    category = dict.fromkeys(sizes, "general") | dict(categories or {})
    prompts = [prompt(name, row, category=category[name]) for name, size in sizes.items() for row in range(size)]
    generator = np.random.default_rng(seed)
    chosen: list[tuple[int, str]] = []
    for name, count in picked.items():
        own = [number for number, row in enumerate(prompts) if row["benchmark"] == name]
        order = generator.permutation(own)[:count].tolist() if method == "random" or audit else own[:count]
        chosen += [(number, "audit" if place < audit else "core") for place, number in enumerate(order)]
    chosen.sort(key=lambda pick: pick[1] == "audit")
    store(registry, "prompts", prompts)
    shares = [Benchmark(name, category[name], 1 / len(sizes)) for name in sorted(sizes)]
    configuration = {"method": method, "k": len(chosen), "mass": "macro", "constraint": {"rounds": "benchmark"}}
    configuration |= {"filter": {}, "include": [], "exclude": []} | semantic
    _store_coreset(registry, [(prompts[number], role) for number, role in chosen], sizes, shares, configuration)
    return Planted(registry, prompts, np.array([number for number, _ in chosen], np.int64))


def _store_coreset(
    registry: Registry,
    chosen: Sequence[tuple[Mapping[str, Any], str]],
    sizes: Mapping[str, int],
    shares: Sequence[Benchmark],
    configuration: Mapping[str, Any],
) -> None:
    names, ids = [own["benchmark"] for own, _ in chosen], [own["prompt_id"] for own, _ in chosen]
    counts, drawn = {name: names.count(name) for name in sizes}, configuration["method"] == "random"
    rows = [
        {
            "coreset_id": CORESET, "rank": rank, "gain": 0.0, "represents": 1, "role": role,
            "inclusion_probability": counts[own["benchmark"]] / sizes[own["benchmark"]] if drawn else None,
        } | {key: own[key] for key in ("prompt_id", "content_hash", "benchmark")}
        for rank, (own, role) in enumerate(chosen)
    ]  # fmt: skip
    weights = [
        {"coreset_id": CORESET, "target": target, "prompt_id": identity, "weight": float(weight)}
        for target, own in target_weights(names, shares).targets.items()
        for identity, weight in zip(ids, own, strict=True)
        if weight > 0
    ]
    coverage = [
        {
            "benchmark": share.name, "category": share.category, "prompts": sizes[share.name],
            "distinct": sizes[share.name], "picks": counts[share.name], "mass": share.share, "coverage": 0.5,
            "borrowed": counts[share.name] == 0, "truncated": 0, "unknown_language": 0,
        }
        for share in shares
    ]  # fmt: skip
    manifest = {
        "coreset_id": CORESET, "semantic_configuration": dict(configuration), "input_digest": "0" * 32,
        "table_versions": {"prompts": 0}, "encoders": {}, "centre": [0.0], "seed": 0, "k": len(chosen), "value": 0.5,
        "certificate": None, "coverage": coverage, "library_versions": {}, "timings": {},
        "run_id": "20260101T000000-000000",
    }  # fmt: skip
    packed = {
        name: orjson.dumps(value).decode() if isinstance(value, dict) or name == "coverage" else value
        for name, value in manifest.items()
    }
    store(registry, "coresets", rows)
    store(registry, "coreset_weights", weights)
    store(registry, "manifests", [packed])
