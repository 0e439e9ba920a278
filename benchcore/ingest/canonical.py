"""The canonical prompt: what every benchmark's record becomes, before it gets its id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchcore.registry.identity import content_hash


@dataclass(frozen=True)
class Canonical:
    """One prompt with its ground-truth metadata; all texts are valid UTF-8 without NUL.

    Attributes:
        identity: the rendered id template, unique in the benchmark; None where the source declares none.
        metadata: JSON object with sorted keys.
        n_characters: of the prompt.
        content_hash: of prompt, answer and choices (registry.identity.content_hash).
    """

    benchmark: str
    category: str
    task: str | None
    split: str | None
    language: str | None
    item_group: str | None
    tags: list[str]
    prompt: str
    answer: str | None
    choices: list[str] | None
    metadata: str
    identity: str | None
    n_characters: int
    content_hash: str


@dataclass(frozen=True)
class Rejection:
    """Why a record, or an example in it, cannot be a prompt; `raw` is its bounded text for the quarantine."""

    reason: str
    raw: str


def canonical(
    *,
    benchmark: str,
    category: str | None,
    prompt: str,
    max_characters: int,
    task: str | None = None,
    split: str | None = None,
    language: str | None = None,
    item_group: str | None = None,
    tags: Iterable[str] = (),
    answer: str | None = None,
    choices: list[str] | None = None,
    metadata: str = "{}",
    identity: str | None = None,
) -> Canonical | str:
    """Make a canonical prompt of rendered texts, or say why they cannot be one.

    Empty choices, answers and tags count as absent; a tag that is given twice is kept once.
    """
    if not prompt.strip():
        return "the prompt is empty"
    if len(prompt) > max_characters:
        return f"the prompt has {len(prompt)} characters, more than {max_characters} (ingest.max_characters)"
    labels = [benchmark, category, task, split, language, item_group, answer, metadata, identity]
    kept_tags = list(dict.fromkeys(tag for tag in tags if tag))
    for text in (prompt, *labels, *(choices or ()), *kept_tags):
        if text is not None and (problem := _unstorable(text)) is not None:
            return problem
    return Canonical(
        benchmark=benchmark,
        category=category or "uncategorized",
        task=task or None,
        split=split or None,
        language=language or None,
        item_group=item_group or None,
        tags=kept_tags,
        prompt=prompt,
        answer=answer or None,
        choices=choices or None,
        metadata=metadata,
        identity=identity,
        n_characters=len(prompt),
        content_hash=content_hash(prompt, answer, choices),
    )


def _unstorable(text: str) -> str | None:
    """Why no table can hold a text, or None."""
    if "\x00" in text:
        return "the text holds a NUL character"
    if text.isascii():
        return None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the text holds an unpaired surrogate (U+{ord(text[error.start]):04X})"
    return None
