"""Files beside the tables: each is there whole or not at all."""

from __future__ import annotations

import uuid
from pathlib import Path

from benchcore.registry.root import Registry


def exists(registry: Registry, path: str) -> bool:
    """Say whether a file is there."""
    return bool(registry.filesystem().exists(path))


def read_bytes(registry: Registry, path: str) -> bytes:
    """Read a file."""
    return bytes(registry.filesystem().cat_file(path))


def write_atomically(registry: Registry, path: str, content: bytes) -> None:
    """Write a file under a temporary name and rename it; an object store's put is atomic by itself."""
    if not registry.is_local:
        registry.filesystem().pipe_file(path, content)
        return
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex}")
    temporary.write_bytes(content)
    temporary.replace(final)


def list_files(registry: Registry, folder: str) -> list[str]:
    """List a folder's files, sorted, temporary ones included; without the folder there are none."""
    filesystem = registry.filesystem()
    if not filesystem.exists(folder):
        return []
    filesystem.invalidate_cache(folder)
    return sorted(str(path) for path in filesystem.ls(folder, detail=False))


def remove_folder(registry: Registry, folder: str) -> None:
    """Remove a folder with all that is in it, if it is there."""
    filesystem = registry.filesystem()
    if filesystem.exists(folder):
        filesystem.rm(folder, recursive=True)
