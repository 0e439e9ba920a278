"""What the registry's prompts say, and which of it has no vector yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.embedding.spool import Spool
from benchcore.embedding.text import Renderer
from benchcore.registry.identity import text_hash
from benchcore.registry.root import Registry
from benchcore.registry.tables import dataset

_ROWS = 1024


@dataclass(frozen=True)
class Survey:
    """Counts of distinct texts.

    Attributes:
        texts: all.
        truncated: those with a vector that stands for their head only.
        empty: prompts whose text is empty.
    """

    texts: int
    truncated: int
    empty: int


def survey(
    registry: Registry,
    version: int | None,
    renderer: Renderer,
    known: Mapping[str, bool],
    missing: Spool,
    *,
    offer: Callable[[str, str], None] = lambda hashed, text: None,
) -> Survey:
    """Render every prompt that is not retired and keep the texts that are not known.

    Args:
        registry: holds the prompts.
        version: of the table `prompts`; None when there is none.
        renderer: of the configuration.
        known: hashes of texts that have a vector -> whether it is truncated.
        missing: takes the other texts, each once.
        offer: told every text, with its hash first.
    """
    found: set[str] = set()
    empty = 0
    for batch in current_prompts(registry, version, renderer):
        for text in renderer.texts(batch):
            hashed = text_hash(text)
            empty += not text
            offer(hashed, text)
            if hashed in known:
                found.add(hashed)
            else:
                missing.add(hashed, text)
    return Survey(len(found) + len(missing), sum(known[hashed] for hashed in found), empty)


def offer_texts(registry: Registry, version: int | None, renderer: Renderer, offer: Callable[[str, str], None]) -> None:
    """Tell the text of every prompt that is not retired, with its hash first."""
    for batch in current_prompts(registry, version, renderer):
        for text in renderer.texts(batch):
            offer(text_hash(text), text)


def prompts_of(registry: Registry, version: int | None, renderer: Renderer, hashes: set[str], most: int) -> list[str]:
    """Find ids of prompts that say certain texts, `most` at the most, for a message."""
    ids: list[str] = []
    for batch in current_prompts(registry, version, renderer):
        named = zip(batch.column("prompt_id").to_pylist(), renderer.hashes(batch), strict=True)
        ids.extend(identity for identity, hashed in named if hashed in hashes)
        if len(ids) >= most:
            break
    return ids[:most]


def current_prompts(registry: Registry, version: int | None, renderer: Renderer) -> Iterator[pa.RecordBatch]:
    """Read the columns that a template uses, of prompts that are not retired, a batch at a time."""
    if version is None:
        return
    rows = dataset(registry, "prompts", version)
    yield from rows.to_batches(
        columns=list(renderer.columns),
        filter=pc.field("retired_at").is_null(),
        batch_size=_ROWS,
        batch_readahead=2,
        fragment_readahead=1,
    )
