"""Which methods can pick from a registry, how each runs there, and which blocks of features it looks at."""

from __future__ import annotations

from benchcore.distributed.pool import Block, Pool
from benchcore.errors import UsageError
from benchcore.methods import METHODS
from benchcore.methods.entry import Entry
from benchcore.methods.kernel_mean.candidates import By
from benchcore.methods.names import require_known
from benchcore.methods.score_free.balanced_swaps import balanced_swaps_by
from benchcore.methods.score_free.nested_swaps import nested_swaps_by

BLOCKS = ("embedding", "surface", "ngrams")
SHARDED = "facility_location"  # runs on shards; others that look at blocks run on the whole pool in one process
# These do so up to `select.exact_rows` prompts; beyond, they pick from candidates, whose means the workers measure.
FROM_CANDIDATES: dict[str, By] = {"nested_swaps": nested_swaps_by, "balanced_swaps": balanced_swaps_by}


def method_of(name: str) -> Entry:
    """Look up a method that can pick from a registry.

    Raises:
        UsageError: there is none of this name, or it looks at model scores or picks whole tasks.
    """
    known = [other for other, entry in METHODS.items() if set(entry.needs) <= set(BLOCKS) and not entry.whole_tasks]
    if name in METHODS and name not in known:
        mend = f"There are {', '.join(known)}."
        raise UsageError(f"'{name}' needs scores of models, and a registry is picked from without", _WHERE, mend)
    require_known(name, known, "method", _WHERE)
    return METHODS[name]


def blocks_of(name: str, pool: Pool) -> dict[str, Block]:
    """The blocks that a method looks at, by name; `embedding` always, since coverage is measured by it.

    Raises:
        UsageError: as `method_of`, or the method needs a block that the configuration leaves out.
    """
    entry = method_of(name)
    lacking = set(entry.needs) - {"embedding", *pool.blocks}
    if lacking:
        raise UsageError(f"'{name}' needs the block '{min(lacking)}'", _WHERE, "Add it to embed.features.")
    wanted = {*entry.needs, *entry.uses}
    return {"embedding": pool.embedding} | {block: found for block, found in pool.blocks.items() if block in wanted}


_WHERE = "select.method"
