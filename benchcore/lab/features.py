"""Feature blocks of a suite's texts, fit on nothing and computed once: vectors, surface figures, character n-grams."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.lab.pieces import DAMAGES
from benchcore.lab.suites import Suite
from benchcore.methods.text_features import TEXT_FEATURES
from benchcore.registry.identity import digest, text_hash

log = logging.getLogger(__name__)

Block = NDArray[Any]
BLOCKS = ("embedding", "surface", "ngrams")


@dataclass(frozen=True)
class TextEncoder:
    """What turns texts into vectors.

    Attributes:
        fingerprint: names it; the same name gives the same vectors.
        encode: from texts to (n, d) vectors; called only for texts that are not in the cache.
    """

    fingerprint: str
    encode: Callable[[Sequence[str]], NDArray[np.float32]]


def features_of(suite: Suite, encoder: TextEncoder | None, cache: Path, needed: Sequence[str]) -> dict[str, Block]:
    """Compute the blocks of a suite, or take them from the cache.

    Args:
        suite: blocks that it brings are taken as they are.
        encoder: None where `embedding` is not needed or the suite brings it.
        cache: folder; made when something is kept there.
        needed: names in BLOCKS.

    Returns:
        By name: `embedding` (n, d) float32, `surface` (n, s) float64, `ngrams` (n, 100) float32.

    Raises:
        UsageError: the suite has neither a block that is needed nor texts.
    """
    makers: Mapping[str, tuple[str, Callable[[Sequence[str]], Block]]] = {
        **{name: (f"{name} {feature.version}", feature.compute) for name, feature in TEXT_FEATURES.items()},
        **({"embedding": (encoder.fingerprint, encoder.encode)} if encoder else {}),
    }
    blocks: dict[str, Block] = {}
    for name in needed:
        if name in suite.blocks:
            blocks[name] = suite.blocks[name]
        elif not suite.texts:
            mend = "Join shipped suites with shipped ones alone."
            raise UsageError(f"has no block '{name}', and no texts to make it from", where=suite.name, mend=mend)
        else:
            fingerprint, make = makers[name]
            blocks[name] = _cached(cache, name, suite, fingerprint, make)
    return blocks


def default_cache() -> Path:
    """Where features are kept: below $XDG_CACHE_HOME, by default ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchcore" / "lab"


def _cached(cache: Path, name: str, suite: Suite, fingerprint: str, make: Callable[[Sequence[str]], Block]) -> Block:
    """The block's rows: those of texts that some suite had before are taken from there."""
    encoder = digest("features", fingerprint)[:12]
    hashes = np.array([text_hash(text) for text in suite.texts])
    file = cache / f"{name}-{encoder}-{digest('texts', hashes.tolist())[:20]}.npz"
    known: dict[str, Block] = {}
    for earlier in [file] if file.is_file() else sorted(cache.glob(f"{name}-{encoder}-*.npz")):
        known |= _kept(earlier)
    missing = {hashed: text for hashed, text in zip(hashes.tolist(), suite.texts, strict=True) if hashed not in known}
    if missing:
        log.info("%s: computing %s of %d texts", suite.name, name, len(missing))
        known |= dict(zip(missing, make(list(missing.values())), strict=True))
    block = np.stack([known[hashed] for hashed in hashes.tolist()])
    if missing or not file.is_file():
        _keep(file, hashes, block)
    return block


def _kept(file: Path) -> dict[str, Block]:
    """Rows by the hash of their text; none where the file is damaged."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            return dict(zip(stored["hashes"].tolist(), stored["rows"], strict=True))
    except DAMAGES:
        log.warning("%s is damaged and is made anew", file)
        return {}


def _keep(file: Path, hashes: NDArray[np.str_], rows: Block) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}.tmp")
    with partial.open("wb") as stream:
        np.savez(stream, hashes=hashes, rows=rows)
    partial.replace(file)
