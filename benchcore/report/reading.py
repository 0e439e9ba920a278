"""What the report reads of a registry, at the versions that the coreset pins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import Manifest, read_picks
from benchcore.registry.root import Registry
from benchcore.registry.tables import dataset, read
from benchcore.report.ground import Ground
from benchcore.submodular.quantise import Rows, quantise

_PICKED = ("prompt_id", "category", "source", "path", "source_row", "record_id", "prompt", "answer", "choices")


def picked_prompts(registry: Registry, manifest: Manifest) -> list[dict[str, Any]]:
    """The picks by rank, with their prompts as they were at the version that the selection read."""
    picks = read_picks(registry, manifest.coreset_id).to_pylist()
    wanted = pc.field("prompt_id").isin([pick["prompt_id"] for pick in picks])
    found = read(registry, "prompts", manifest.table_versions.get("prompts"), _PICKED, wanted).to_pylist()
    prompts = {row["prompt_id"]: row for row in found}
    missing = [pick["prompt_id"] for pick in picks if pick["prompt_id"] not in prompts]
    if missing:
        raise BenchcoreError(f"the table of prompts lacks {len(missing)} picks, first {missing[0]}", registry.root)
    return [pick | prompts[pick["prompt_id"]] for pick in picks]


def rows_of(registry: Registry, manifest: Manifest, ground: Ground) -> Rows:
    """(n, d) vectors as the selection saw them: centred, of one length, in whole numbers.

    Raises:
        BenchcoreError: texts have no vector at the pinned version.
    """
    table = dataset(registry, "embeddings", manifest.table_versions.get("embeddings")).to_table(
        ["text_hash", "vector"], filter=pc.field("encoder") == ground.encoder
    )
    places = pc.index_in(pa.array(ground.text_hash.tolist(), pa.string()), value_set=table["text_hash"])
    if places.null_count:
        raise BenchcoreError(
            f"{places.null_count:,} of {ground.n:,} texts have no vector any more",
            where=registry.uri("embeddings"),
            mend="Run `benchcore embed CONF`, then `benchcore select CONF`.",
        )
    vectors = pa.chunked_array(table["vector"]).combine_chunks()
    numbers = np.asarray(vectors.flatten(), np.float32).reshape(len(vectors), -1)
    return quantise(numbers[np.asarray(places)], _centre(registry, manifest.coreset_id))


def beginnings(registry: Registry, manifest: Manifest, ground: Ground, characters: int) -> list[str]:
    """The first characters of each prompt."""
    rows = dataset(registry, "prompts", manifest.table_versions.get("prompts"))
    head = pc.utf8_slice_codeunits(pc.coalesce(pc.field("prompt"), pc.scalar("")), 0, characters)
    found = rows.to_table({"prompt_id": pc.field("prompt_id"), "head": head})
    places = pc.index_in(pa.array(ground.prompt_id.tolist(), pa.string()), value_set=found["prompt_id"])
    if places.null_count:
        raise BenchcoreError(f"the table of prompts lacks {places.null_count:,} prompts of the coreset", registry.root)
    heads: list[str] = found["head"].take(places).to_pylist()
    return heads


def exact_copies(registry: Registry, manifest: Manifest) -> Counter[tuple[str, str]]:
    """How many prompts of one benchmark repeat one of another (or of their own), as `duplicate_of` says."""
    current = read(
        registry,
        "prompts",
        manifest.table_versions.get("prompts"),
        ("prompt_id", "benchmark", "duplicate_of"),
        pc.field("retired_at").is_null(),
    )
    copies = current.filter(pc.is_valid(current["duplicate_of"]))
    first = pc.index_in(copies["duplicate_of"], value_set=current["prompt_id"])
    known = pc.is_valid(first)
    originals = current["benchmark"].take(first.filter(known)).to_pylist()
    return Counter(zip(copies["benchmark"].filter(known).to_pylist(), originals, strict=True))


def weights_by_target(registry: Registry, coreset_id: str) -> Mapping[str, dict[str, float]]:
    """Target -> prompt id -> weight."""
    wanted = pc.field("coreset_id") == coreset_id
    rows = read(registry, "coreset_weights", columns=("target", "prompt_id", "weight"), where=wanted)
    found: dict[str, dict[str, float]] = {}
    for target, identity, weight in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True):
        found.setdefault(target, {})[identity] = weight
    return {target: found[target] for target in sorted(found)}


def _centre(registry: Registry, coreset_id: str) -> NDArray[np.float64]:
    rows = read(registry, "manifests", columns=("centre",), where=pc.field("coreset_id") == coreset_id)
    return np.asarray(rows["centre"][0].as_py(), np.float64)
