"""Features of a text besides its vector, fitted on nothing: how it looks, and its character n-grams."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NGRAM_BUCKETS, _NGRAM_DIMENSIONS = 1 << 15, 100
_CODE = re.compile(r"[{}();=<>\[\]_]|\bdef\b|\breturn\b|\bimport\b|\bclass\b")
_MATHS = re.compile(r"[\\$^+*/=]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Blanks but no line feeds before it: else each line of an empty stretch is looked through to the stretch's end.
_OPTION = re.compile(r"^[^\S\n]*(?:[A-Z0-9][.):]|[-*])\s", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


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


@dataclass(frozen=True)
class TextFeature:
    """A block of features that a text alone decides.

    Attributes:
        compute: from n texts to (n, d) numbers.
        version: raised whenever a text gets other numbers than before.
    """

    compute: Callable[[Sequence[str]], NDArray[Any]]
    version: int


TEXT_FEATURES = {"surface": TextFeature(surface, 1), "ngrams": TextFeature(ngrams, 1)}
