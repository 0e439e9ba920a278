"""Every key stands once."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding
from benchcore.registry.checks.fingerprints import Fingerprints, hashes
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.schemas import KEYS


def unique_keys(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for keys that several rows of a table have."""
    for name, columns in KEYS.items():
        repeated = Fingerprints.of(snapshot.batches(name, columns), columns).repeated()
        if not len(repeated.sorted):
            continue
        rows, first = 0, dict[tuple[object, ...], int]()
        for batch in snapshot.batches(name, columns):
            mine = batch.filter(pa.array(repeated.has(hashes(batch, columns))))
            rows += len(mine)
            for key in zip(*(column.to_pylist() for column in mine.columns), strict=True):
                if key in first or len(first) < EXAMPLES:
                    first[key] = first.get(key, 0) + 1
        examples = tuple("/".join(map(str, key)) + f" {count} times" for key, count in first.items())
        what = f"rows have a key ({', '.join(columns)}) that another row has"
        yield Finding("keys", "broken", name, what, rows, examples, RESTORE)
