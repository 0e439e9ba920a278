"""Layouts that were computed before, beside the tables: safe to delete, and made again when they are broken."""

from __future__ import annotations

import hashlib
import logging
import uuid

import numpy as np
from numpy.typing import NDArray

from benchcore.registry.identity import digest
from benchcore.registry.root import Registry
from benchcore.report.layout import LANDMARKS, Positions, lay_out
from benchcore.submodular.quantise import Rows

log = logging.getLogger(__name__)

_VERSION = 1  # of the way that `lay_out` goes
_CHECKSUM = 32  # bytes before the positions


def stored_layout(registry: Registry, keys: NDArray[np.str_], rows: Rows) -> Positions:
    """The layout of some rows, from the registry if it is there; else it is computed and kept.

    Args:
        registry: its folder `_layouts` holds them.
        keys: (n,) hashes of the texts.
        rows: (n, d) their vectors.

    Returns:
        (n, 2).
    """
    content = hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()
    name = digest("layout", _VERSION, LANDMARKS, content, keys.tolist())
    path = registry.sidecar("_layouts", f"{name}.layout")
    known = _load(registry, path, len(keys))
    if known is not None:
        return known
    positions = lay_out(keys, rows)
    _save(registry, path, positions)
    return positions


def _load(registry: Registry, path: str, n: int) -> Positions | None:
    try:
        content = registry.filesystem().cat_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("layout %s cannot be read (%s); it is made again", path, error)
        return None
    checksum, body = content[:_CHECKSUM], content[_CHECKSUM:]
    if hashlib.sha256(body).digest() != checksum or len(body) != 4 * n:
        log.warning("layout %s is damaged; it is made again", path)
        return None
    return np.frombuffer(body, "<i2").reshape(n, 2).astype(np.int16)


def _save(registry: Registry, path: str, positions: Positions) -> None:
    """Keep a layout; it appears whole or not at all, and where it cannot be kept the report goes on without."""
    body = positions.astype("<i2").tobytes()
    temporary, files = f"{path}.{uuid.uuid4().hex}.tmp", registry.filesystem()
    try:
        files.makedirs(registry.sidecar("_layouts"), exist_ok=True)
        files.pipe_file(temporary, hashlib.sha256(body).digest() + body)
        files.mv(temporary, path)
    except OSError as error:
        log.warning("the layout cannot be kept (%s); the next report makes it again", error)
