"""Small registries for tests of what reads them: rows as ingestion, embedding and selection leave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
from deltalake import write_deltalake

from benchcore.registry.identity import bucket, content_hash, prompt_id
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, SCHEMAS
from benchcore.registry.tables import append_missing, read


def prompt(benchmark: str, number: int, **values: Any) -> dict[str, Any]:
    """A prompt with every column, its id and hash derived as ingestion does."""
    text, answer, choices = (
        values.get("prompt", f"{benchmark} asks {number}"),
        values.get("answer"),
        values.get("choices"),
    )
    row = dict.fromkeys(SCHEMAS["prompts"].names) | {
        "prompt_id": prompt_id(benchmark, str(number)),
        "benchmark": benchmark,
        "category": f"about {benchmark}",
        "tags": [],
        "source": benchmark,
        "path": f"{benchmark}.jsonl",
        "source_row": number,
        "prompt": text,
        "metadata": "{}",
        "n_characters": len(text),
        "content_hash": content_hash(text, answer, choices),
        "revision": 1,
        "first_run": "20260101T000000-000000",
    }
    return row | values


def source(benchmark: str, **values: Any) -> dict[str, Any]:
    """A row of `sources` that fits the prompts of a benchmark."""
    row = {"source": benchmark, "path": f"{benchmark}.jsonl", "content_sha256": "c", "mapping_sha256": "m"}
    return dict.fromkeys(SCHEMAS["sources"].names) | row | {"benchmark": benchmark} | values


def embedding(text_hash: str, encoder: str, **values: Any) -> dict[str, Any]:
    """A row of `embeddings`."""
    row = {"text_hash": text_hash, "encoder": encoder, "dimension": 2, "vector": [1.0, 0.0], "truncated": False}
    return row | {"bucket": bucket(text_hash, 64)} | values


def store(registry: Registry, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows to a table."""
    append_missing(registry, table, pa.Table.from_pylist(list(rows), SCHEMAS[table]))


def edit(registry: Registry, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Bring rows into a table by its key, those that are there in their new version."""
    replaced = {tuple(row[key] for key in KEYS[table]): row for row in read(registry, table).to_pylist()}
    replaced |= {tuple(row[key] for key in KEYS[table]): dict(row) for row in rows}
    written = pa.Table.from_pylist(list(replaced.values()), SCHEMAS[table])
    write_deltalake(registry.uri(table), written, mode="overwrite")


def store_coreset(registry: Registry, coreset_id: str, picks: Sequence[Mapping[str, Any]], **manifest: Any) -> None:
    """Picks in their order, with equal weights, and a manifest that covers their benchmarks."""
    k = len(picks)
    benchmarks = {row["benchmark"]: row["category"] for row in picks}
    common = {"coreset_id": coreset_id}
    ranked = [
        common
        | {name: row[name] for name in ("prompt_id", "content_hash", "benchmark")}
        | {
            "rank": rank,
            "gain": 0.5 / (rank + 1),
            "represents": 10 + rank,
            "role": "core",
            "inclusion_probability": None,
        }
        for rank, row in enumerate(picks)
    ]
    weights = [common | {"target": "suite", "prompt_id": row["prompt_id"], "weight": 1 / k} for row in picks]
    coverage = [
        {"benchmark": name, "category": category, "prompts": 40, "picks": _count(picks, name), "coverage": 0.75}
        | {"distinct": 40, "mass": 1 / len(benchmarks), "borrowed": False, "truncated": 0, "unknown_language": 0}
        for name, category in benchmarks.items()
    ]
    row = {
        "semantic_configuration": {"method": "facility_location", "k": k},
        "input_digest": "0" * 32,
        "table_versions": {"prompts": 0},
        "encoders": {"embedding": {"fingerprint": "f", "name": "an encoder"}},
        "centre": [0.0, 0.0],
        "seed": 0,
        "k": k,
        "value": 0.5,
        "certificate": {"upper_bound": 0.625, "ratio": 0.8, "kind": "exact"},
        "coverage": coverage,
        "library_versions": {"numpy": "2.0"},
        "timings": {"local": 1.5},
        "run_id": "20260101T000000-000000",
    } | manifest
    encoded = {
        name: orjson.dumps(value).decode() if isinstance(value, dict) or name == "coverage" else value
        for name, value in row.items()
    }
    store(registry, "coresets", ranked)
    store(registry, "coreset_weights", weights)
    store(registry, "manifests", [common | encoded])


def _count(picks: Sequence[Mapping[str, Any]], benchmark: str) -> int:
    return sum(row["benchmark"] == benchmark for row in picks)
