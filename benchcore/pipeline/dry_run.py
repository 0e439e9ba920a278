"""What a selection would do: the pool is read and planned, no engine is started, nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchcore.config import Config
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin

if TYPE_CHECKING:
    from benchcore.distributed.preview import Preview


def dry_run(config: Config, registry: Registry) -> Preview:
    """Plan the selection that `select` would make now. It takes no lock: what others write meanwhile is not seen.

    Args:
        config: validated.
        registry: that is there.

    Raises:
        UsageError: as `select`.
        BenchcoreError: as `select`, but for memory, which the preview tells.
    """
    from benchcore.distributed.preview import preview
    from benchcore.pipeline.selectable import selectable

    pinned = pin(registry, ("prompts", "sources", "embeddings"))
    return preview(config, registry, selectable(config, registry, pinned), pinned)
