"""Rows that refer to others, which are not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from benchcore.registry.checks.finding import EXAMPLES, Finding
from benchcore.registry.checks.fingerprints import Fingerprints, hashes
from benchcore.registry.checks.snapshot import Snapshot

_NO_MANIFEST = "rows of coresets without manifest"
_NO_PICK = "weights of prompts that are no picks"
_NO_PROMPT = "rows of unknown prompts"

_UNSEALED = (
    "Run `benchcore select CONF` again: a selection that was killed leaves this, and is completed. What no"
    " configuration asks for any more goes with `benchcore registry vacuum`."
)
_UNKNOWN = "If these prompts are not to come back, `benchcore registry purge --prompt ID` removes their rows."


def orphans(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for coresets without manifest, weights without picks, and scores and bindings of unknown prompts."""
    coresets = ("coreset_id",)
    sealed = Fingerprints.of(snapshot.batches("manifests", coresets), coresets)
    for name in ("coresets", "coreset_weights"):
        yield from _unknown(snapshot, name, coresets, sealed, what=_NO_MANIFEST, mend=_UNSEALED)
    pick = ("coreset_id", "prompt_id")
    picks = Fingerprints.of(snapshot.batches("coresets", pick), pick)
    yield from _unknown(snapshot, "coreset_weights", pick, picks, what=_NO_PICK, mend=_UNSEALED)
    for name in ("scores", "bindings"):
        yield from _unknown(snapshot, name, ("prompt_id",), snapshot.prompts, what=_NO_PROMPT, mend=_UNKNOWN)


def _unknown(
    snapshot: Snapshot, name: str, columns: Sequence[str], known: Fingerprints, *, what: str, mend: str
) -> Iterator[Finding]:
    count, examples = 0, dict[str, None]()
    for batch in snapshot.batches(name, columns):
        lost = ~known.has(hashes(batch, columns))
        count += int(lost.sum())
        if lost.any() and len(examples) < EXAMPLES:
            rows = batch.filter(pa.array(lost)).slice(0, 1000)
            keys = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            examples |= dict.fromkeys("/".join(map(str, key)) for key in keys)
    if count:
        yield Finding("orphans", "broken", name, what, count, tuple(examples)[:EXAMPLES], mend)
