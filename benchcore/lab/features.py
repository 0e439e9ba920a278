"""Feature blocks of a suite's texts, fit on nothing and computed once: vectors, surface figures, character n-grams."""

from __future__ import annotations

import logging
import math
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.suites import Suite
from benchcore.registry.identity import digest, text_hash

log = logging.getLogger(__name__)

Block = NDArray[Any]
BLOCKS = ("embedding", "surface", "ngrams")

_NGRAM_BUCKETS, _NGRAM_DIMENSIONS = 1 << 15, 100
_CODE = re.compile(r"[{}();=<>\[\]_]|\bdef\b|\breturn\b|\bimport\b|\bclass\b")
_MATHS = re.compile(r"[\\$^+*/=]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_OPTION = re.compile(r"^\s*(?:[A-Z0-9][.):]|[-*])\s", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


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
        suite: its own vectors, where it has some, are its block `embedding`.
        encoder: None where `embedding` is not needed or the suite brings its vectors.
        cache: folder; made when something is kept there.
        needed: names in BLOCKS.

    Returns:
        By name: `embedding` (n, d) float32, `surface` (n, s) float64, `ngrams` (n, 100) float32.
    """
    makers: Mapping[str, tuple[str, Callable[[Sequence[str]], Block]]] = {
        "surface": ("surface 1", surface),
        "ngrams": ("ngrams 1", ngrams),
        **({"embedding": (encoder.fingerprint, encoder.encode)} if encoder else {}),
    }
    blocks: dict[str, Block] = {}
    for name in needed:
        if name == "embedding" and suite.vectors is not None:
            blocks[name] = suite.vectors
        else:
            fingerprint, make = makers[name]
            blocks[name] = _cached(cache, name, suite, fingerprint, make)
    return blocks


def default_cache() -> Path:
    """Where features are kept: below $XDG_CACHE_HOME, by default ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchcore" / "lab"


def surface(texts: Sequence[str]) -> NDArray[np.float64]:
    """Figures of how texts look: length, words, lines, shares of kinds of characters, marks of code and of maths."""
    return np.array([_surface(text) for text in texts], np.float64).reshape(len(texts), -1)


def ngrams(texts: Sequence[str]) -> NDArray[np.float32]:
    """Project character 1-3-grams to 100 dimensions.

    Counts in hashed buckets, 1 + log, unit length, and a sign projection from a fixed seed (Achlioptas 2003): the
    block of a text depends on this text alone.
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        analyzer="char",
        ngram_range=(1, 3),
        n_features=_NGRAM_BUCKETS,
        alternate_sign=False,
        norm=None,
        dtype=np.float32,
    )
    signs = np.random.default_rng(0).integers(0, 2, (_NGRAM_BUCKETS, _NGRAM_DIMENSIONS), np.int8)
    projection = (2.0 * signs - 1.0).astype(np.float32) / np.float32(math.sqrt(_NGRAM_DIMENSIONS))
    counts = hashing.transform(texts)
    counts.data = 1.0 + np.log(counts.data)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return np.asarray((counts @ projection) / np.maximum(lengths, 1e-12)[:, None], np.float32)


def _surface(text: str) -> list[float]:
    words, length = text.split(), max(1, len(text))
    numbers = _NUMBER.findall(text)
    letters = sum(map(str.isalpha, text))
    return [
        math.log1p(len(text)),
        math.log1p(len(words)),
        math.log1p(text.count("\n")),
        math.log1p(len(_SENTENCE.findall(text))),
        sum(map(len, words)) / max(1, len(words)),
        max(map(len, words), default=0) ** 0.5,
        len({word.lower() for word in words}) / max(1, len(words)),
        math.log1p(len(numbers)),
        math.log1p(max((len(number) for number in numbers), default=0)),
        sum(map(str.isdigit, text)) / length,
        sum(map(str.isupper, text)) / max(1, letters),
        letters / length,
        sum(ord(character) > 127 for character in text) / length,
        math.log1p(text.count("?")),
        math.log1p(text.count(",")),
        math.log1p(text.count('"') + text.count("'")),
        math.log1p(len(_CODE.findall(text))),
        math.log1p(len(_MATHS.findall(text))),
        math.log1p(len(_OPTION.findall(text))),
    ]


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
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        log.warning("%s is damaged and is made anew", file)
        return {}


def _keep(file: Path, hashes: NDArray[np.str_], rows: Block) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}.tmp")
    with partial.open("wb") as stream:
        np.savez(stream, hashes=hashes, rows=rows)
    partial.replace(file)
