"""Stable names for prompts, texts, encoders and coresets: hashes of content, never of positions or paths."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import orjson

DIGEST_CHARACTERS = 32  # 128 bits: no collision to be expected below 10^18 rows


def digest(*parts: object) -> str:
    """Hash JSON-able parts, unambiguously: the same parts give the same 32 hexadecimal digits on any machine.

    Mappings are hashed with sorted keys; ("ab", "c") and ("a", "bc") differ.
    """
    encoded = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    return hashlib.sha256(encoded).hexdigest()[:DIGEST_CHARACTERS]


def content_hash(prompt: str, answer: str | None, choices: Sequence[str] | None) -> str:
    """Hash the canonical record: what is asked and what counts as right."""
    return digest("content", prompt, answer or "", list(choices or ()))


def prompt_id(benchmark: str, identity: str, occurrence: int = 0) -> str:
    """Name a prompt by its benchmark, its declared id (or its content hash) and its number among equals."""
    return digest("prompt", benchmark, identity, occurrence)


def text_hash(text: str) -> str:
    """Hash exactly what an encoder sees."""
    return digest("text", text)


def bucket(hashed: str, buckets: int) -> int:
    """Assign a text to one of `buckets` random parts, by its hash alone."""
    return int(hashed[:8], 16) % buckets


def input_digest(pairs: Iterable[tuple[str, str]]) -> str:
    """Hash the selectable (prompt_id, text_hash) pairs, whatever order they come in."""
    running = hashlib.sha256()
    for prompt, text in sorted(pairs):
        running.update(f"{prompt}:{text}\n".encode())
    return running.hexdigest()[:DIGEST_CHARACTERS]
