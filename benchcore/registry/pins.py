"""Which versions of the tables manifests pin, and the data files that those need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import unquote

import pyarrow as pa

from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import Manifest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import open_table


def pinned_versions(manifests: Iterable[Manifest]) -> dict[str, dict[int, list[str]]]:
    """Table -> version -> the coresets that pin it."""
    found: dict[str, dict[int, list[str]]] = {name: defaultdict(list) for name in SCHEMAS}
    for manifest in manifests:
        for name, version in manifest.table_versions.items():
            if name in found:
                found[name][version].append(manifest.coreset_id)
    return {name: dict(sorted(versions.items())) for name, versions in found.items() if versions}


def files_at(registry: Registry, name: str, version: int) -> set[str] | None:
    """The data files of a version, relative to the table's folder; None where its log does not lead there any more."""
    try:
        table = open_table(registry, name, version)
    except BenchcoreError:
        return None
    if table is None:
        return None
    return {unquote(path) for path in pa.table(table.get_add_actions(flatten=True))["path"].to_pylist()}


def stored_files(registry: Registry, name: str) -> dict[str, int]:
    """The data files that lie in a table's folder, whichever version they are of, and their sizes in bytes."""
    filesystem, folder = registry.filesystem(), registry.uri(name)
    filesystem.invalidate_cache()
    root = filesystem._strip_protocol(folder).rstrip("/") + "/"
    found = {
        str(path).removeprefix(root): int(info["size"]) for path, info in filesystem.find(folder, detail=True).items()
    }
    return {
        path: size for path, size in found.items() if path.endswith(".parquet") and not path.startswith("_delta_log/")
    }
