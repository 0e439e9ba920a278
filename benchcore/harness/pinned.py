"""The picks of a coreset as it pins them, with the documents of a harness that are bound to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from benchcore.errors import BenchcoreError
from benchcore.harness.binding import documents_in
from benchcore.harness.picks import Bound, Pick
from benchcore.registry.manifests import Manifest, read_picks, read_weights
from benchcore.registry.root import Registry
from benchcore.registry.tables import among, read

_COLUMNS = (
    "prompt_id",
    "benchmark",
    "category",
    "task",
    "split",
    "language",
    "source",
    "path",
    "source_row",
    "record_id",
    "prompt",
    "answer",
    "choices",
    "metadata",
    "content_hash",
)


@dataclass(frozen=True)
class Pinned:
    """The picks of a coreset.

    Attributes:
        picks: by rank, as the coreset pins them.
        edited: how many of `picks` have another text, answer or choices in the registry now.
        retired: how many the registry's benchmarks no longer have.
        lost: rows of `coresets` whose pinned version cannot be read any more.
    """

    picks: tuple[Pick, ...]
    edited: int
    retired: int
    lost: tuple[Mapping[str, Any], ...]


def pinned_picks(registry: Registry, manifest: Manifest, harness: str, older: Manifest | None = None) -> Pinned:
    """Read the picks of a coreset, each with all documents of a harness that are bound to its content.

    Args:
        registry: holds the coreset.
        manifest: of the coreset.
        harness: the name of the harness.
        older: a coreset whose picks are left out.

    Raises:
        BenchcoreError: the coreset has no picks, or none that the older one lacks.
    """
    rows = read_picks(registry, manifest.coreset_id).to_pylist()
    if not rows:
        raise BenchcoreError(f"coreset {manifest.coreset_id} has no picks", where=registry.root)
    if older is not None:
        known = {_version(row) for row in read_picks(registry, older.coreset_id).to_pylist()}
        rows = [row for row in rows if _version(row) not in known]
        if not rows:
            what = f"coreset {manifest.coreset_id} has no pick that {older.coreset_id} lacks"
            raise BenchcoreError(what, where="--only-new", mend="Name the larger coreset first.")
    weights = read_weights(registry, manifest.coreset_id)
    ids = [row["prompt_id"] for row in rows]
    current = _prompts(registry, None, ids)
    edited = [row["prompt_id"] for row in rows if not _has(current, row)]
    earlier = _earlier(registry, manifest.table_versions.get("prompts"), edited)
    prompts = {row["prompt_id"]: (current if _has(current, row) else earlier).get(row["prompt_id"]) for row in rows}
    found = [row for row in rows if _has({row["prompt_id"]: prompts[row["prompt_id"]]}, row)]
    documents = _documents(registry, harness, found)
    lost = tuple(row for row in rows if row not in found)
    return Pinned(
        picks=tuple(_pick(row, prompts[row["prompt_id"]] or {}, weights, documents) for row in found),
        edited=len(edited) - len(lost),
        retired=sum(current[name]["retired_at"] is not None for name in ids if name in current),
        lost=lost,
    )


def _version(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["prompt_id"], row["content_hash"]


def _prompts(registry: Registry, version: int | None, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    wanted = among("prompt_id", ids)
    rows = read(registry, "prompts", version, (*_COLUMNS, "retired_at"), wanted).to_pylist()
    return {row["prompt_id"]: row for row in rows}


def _earlier(registry: Registry, version: int | None, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Prompts at the version that the coreset was picked from; none where it was vacuumed away."""
    if not ids or version is None:
        return {}
    try:
        return _prompts(registry, version, ids)
    except (BenchcoreError, FileNotFoundError, pa.ArrowException):
        return {}


def _has(prompts: Mapping[str, dict[str, Any] | None], row: Mapping[str, Any]) -> bool:
    there = prompts.get(row["prompt_id"])
    return there is not None and there["content_hash"] == row["content_hash"]


def _documents(
    registry: Registry, harness: str, rows: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], list[Bound]]:
    """(benchmark, content hash) -> documents: those of a pick and of its exact copies inside the benchmark."""
    wanted = {(row["benchmark"], row["content_hash"]) for row in rows}
    hashes = among("content_hash", {content for _, content in wanted})
    columns = ("prompt_id", "benchmark", "content_hash", "metadata")
    copies = read(registry, "prompts", columns=columns, where=hashes).to_pylist()
    benchmarks = {(row["prompt_id"], row["content_hash"]): row["benchmark"] for row in copies}
    benchmarks |= {(row["prompt_id"], row["content_hash"]): row["benchmark"] for row in rows}
    found: dict[tuple[str, str], set[Bound]] = defaultdict(set)
    bound = read(registry, "bindings", where=(pc.field("harness") == harness) & hashes).to_pylist()
    for row in bound:
        benchmark = benchmarks.get((row["prompt_id"], row["content_hash"]))
        if benchmark is not None:
            document = Bound(row["task"], row["document_id"], row["document_hash"], row["harness_version"])
            found[benchmark, row["content_hash"]].add(document)
    for row in copies:
        for named in documents_in(row["metadata"]):
            if named["harness"] == harness:
                version = named.get("version")
                document = Bound(named["task"], str(named.get("id")), named["hash"], version and str(version))
                found[row["benchmark"], row["content_hash"]].add(document)
    return {place: sorted(documents, key=_order) for place, documents in found.items() if place in wanted}


def _order(document: Bound) -> tuple[str, str, str, str]:
    return document.task, document.document_hash, document.document_id, document.version or ""


def _pick(
    row: Mapping[str, Any],
    prompt: Mapping[str, Any],
    weights: Mapping[str, float],
    documents: Mapping[tuple[str, str], Sequence[Bound]],
) -> Pick:
    values = {name: prompt[name] for name in _COLUMNS if name not in ("choices", "metadata", "benchmark")}
    return Pick(
        **values,
        benchmark=row["benchmark"],
        rank=row["rank"],
        role=row["role"],
        weight=weights.get(row["prompt_id"], 0.0),
        choices=tuple(prompt["choices"] or ()),
        metadata=_object(prompt["metadata"]),
        documents=tuple(documents.get((row["benchmark"], row["content_hash"]), ())),
    )


def _object(metadata: str | None) -> dict[str, Any]:
    try:
        value = orjson.loads(metadata or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
