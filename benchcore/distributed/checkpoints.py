"""Finished pieces of a selection, kept under the hash of all that they depend on, so that a killed run resumes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import uuid
from typing import Any

import numpy as np
import orjson

from benchcore.registry.root import Registry
from benchcore.submodular.optimizers.result import Greedy

log = logging.getLogger(__name__)


def load(registry: Registry, key: str) -> Greedy | None:
    """A finished order of picks (pool positions) and gains; None when there is none, or none that is whole."""
    path = _path(registry, key)
    try:
        stored = orjson.loads(registry.filesystem().cat_file(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        log.warning("checkpoint %s cannot be read (%s); its work is done again", path, error)
        return None
    body = stored.get("body") if isinstance(stored, dict) else None
    if not isinstance(body, dict) or stored.get("digest") != _digest(body):
        log.warning("checkpoint %s is broken; its work is done again", path)
        return None
    if body.get("key") != key:
        log.warning("checkpoint %s belongs to another selection; its work is done again", path)
        return None
    return Greedy(np.array(body["order"], np.int64), np.array(body["gains"], np.float64))


def save(registry: Registry, key: str, picks: Greedy) -> None:
    """Keep an order; it appears whole or not at all. Where there is no space for it, work goes on without, with a line.

    A disk that is full when the tables are written is an error, told by them.
    """
    gains = [int(gain) for gain in picks.gains]  # whole numbers below 2^53
    body = {"key": key, "order": picks.order.tolist(), "gains": gains}
    path, files = _path(registry, key), registry.filesystem()
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        files.makedirs(registry.sidecar("_checkpoints", "select"), exist_ok=True)
        files.pipe_file(temporary, orjson.dumps({"body": body, "digest": _digest(body)}))
        files.mv(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            files.rm_file(temporary)
        _warn_once(registry.sidecar("_checkpoints", "select"), error.strerror or type(error).__name__)


def remove(registry: Registry, key: str) -> None:
    """Let go of an order that is of no use any more; there need be none."""
    with contextlib.suppress(OSError):
        registry.filesystem().rm_file(_path(registry, key))


@functools.cache  # once a process and folder: there may be a thousand checkpoints
def _warn_once(folder: str, reason: str) -> None:
    log.warning(
        "no checkpoint can be written in %s (%s); the selection goes on, and if it is killed, what it did is lost",
        folder, reason,
    )  # fmt: skip


def _path(registry: Registry, key: str) -> str:
    return registry.sidecar("_checkpoints", "select", f"{key}.json")


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
