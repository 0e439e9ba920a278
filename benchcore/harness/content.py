"""Our hash of a document's content, for harnesses that have none."""

from __future__ import annotations

import hashlib
import json

CHARACTERS = 32  # 128 bits


def content_digest(*parts: object) -> str:
    """Hash JSON-able parts, unambiguously; any text will do, lone surrogates too.

    It needs the standard library alone, so that a script that we hand out computes the same (`content_source`).
    """
    encoded = json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(encoded).hexdigest()[:CHARACTERS]


def content_source() -> str:
    """Python that defines `content_digest` for a script that runs without benchcore; it needs hashlib and json."""
    return (
        "def content_digest(*parts):\n"
        '    encoded = json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()\n'
        f"    return hashlib.sha256(encoded).hexdigest()[:{CHARACTERS}]\n"
    )
