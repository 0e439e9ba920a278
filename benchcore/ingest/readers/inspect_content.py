"""What a sample of Inspect AI asks, apart from its number and its place: its texts, and their hash.

Only the standard library is used, and samples may be Inspect's own objects or JSON from its logs: exported subsets
carry a copy of this file, so that samples are found in a task's data set by what they ask.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

HASH_CHARACTERS = 32  # 128 bits


def sample_hash(input: Any, target: Any, choices: Any) -> str:
    """Hash the input's texts, the targets and the choices of a sample.

    Images and other media count by their kind alone, since logs may leave their data out.
    """
    targets = [target] if isinstance(target, str) else [str(one) for one in target or ()]
    told = [message_texts(input), targets, [str(choice) for choice in choices or ()]]
    return hashlib.sha256(json.dumps(told).encode("ascii")).hexdigest()[:HASH_CHARACTERS]


def message_texts(input: Any) -> list[tuple[str, str]]:
    """The role and the text of each message; a plain text is one message of the user."""
    if isinstance(input, list | tuple):
        return [(str(_part(message, "role")), content_text(_part(message, "content"))) for message in input]
    return [("user", content_text(input))]


def content_text(content: Any) -> str:
    """The text of a message's content, which is a text or a list of texts and media; a medium stands as `[image]`."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list | tuple):
        return "\n".join(_item_text(item) for item in content)
    return str(content)


def _item_text(item: Any) -> str:
    text = _part(item, "text")
    return text if isinstance(text, str) else f"[{_part(item, 'type')}]"


def _part(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
