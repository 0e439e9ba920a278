"""The prompts that a coreset was picked from, as it saw them: by its pinned table versions and its filter."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.config import FilterSection
from benchcore.errors import BenchcoreError
from benchcore.pipeline import filters
from benchcore.pipeline.selectable import collapse, licences_of
from benchcore.registry.manifests import Manifest
from benchcore.registry.root import Registry
from benchcore.registry.tables import read

_COLUMNS = ("prompt_id", "content_hash", "source", "path", *filters.COLUMNS)


def pinned_pool(registry: Registry, manifest: Manifest) -> pa.Table:
    """Rebuild the pool of a coreset.

    Args:
        registry: holds `prompts` and `sources`.
        manifest: of the coreset.

    Returns:
        prompt_id, content_hash and benchmark of each distinct prompt, by prompt_id.

    Raises:
        BenchcoreError: a version was vacuumed away, or the filter is of another release.
    """
    try:
        wanted = FilterSection.model_validate(manifest.semantic_configuration.get("filter", {}))
    except ValueError as error:
        raise BenchcoreError(
            f"the filter of coreset {manifest.coreset_id} cannot be read: {error}", where=registry.root
        ) from error
    versions = manifest.table_versions
    prompts = read(registry, "prompts", versions.get("prompts"), _COLUMNS, pc.field("retired_at").is_null())
    kept = prompts.filter(pa.array(filters.keep(prompts, licences_of(registry, versions, prompts), wanted)))
    return collapse(kept)[0].select(["prompt_id", "content_hash", "benchmark"])
