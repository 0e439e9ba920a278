"""Values that are outside of what they may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding
from benchcore.registry.checks.snapshot import Snapshot


def values(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for scores outside of [0, 1], and for vectors of one encoder that differ in length."""
    yield from _scores(snapshot)
    yield from _dimensions(snapshot)


def _scores(snapshot: Snapshot) -> Iterator[Finding]:
    score = pc.field("score")
    outside = (score < 0) | (score > 1) | score.is_null(nan_is_null=True)
    columns = ("model", "prompt_id", "run")
    count, examples = 0, list[str]()
    for batch in snapshot.batches("scores", columns, outside):
        count += len(batch)
        examples += ["/".join(map(str, row.values())) for row in batch.slice(0, EXAMPLES).to_pylist()]
    if count:
        what = "scores are not in [0, 1]"
        yield Finding("values", "broken", "scores", what, count, tuple(examples[:EXAMPLES]), RESTORE)


def _dimensions(snapshot: Snapshot) -> Iterator[Finding]:
    found: dict[str, set[int]] = defaultdict(set)
    for batch in snapshot.batches("embeddings", ("encoder", "dimension")):
        grouped = pa.Table.from_batches([batch]).group_by(["encoder", "dimension"]).aggregate([])
        for encoder, dimension in zip(*(column.to_pylist() for column in grouped.columns), strict=True):
            found[encoder].add(dimension)
    mixed = {encoder: sorted(lengths) for encoder, lengths in found.items() if len(lengths) > 1}
    if mixed:
        examples = tuple(f"{encoder}: {', '.join(map(str, lengths))}" for encoder, lengths in mixed.items())
        mend = "Remove the table `embeddings`, and run `benchcore embed CONF`."
        what = "encoders have vectors of several lengths"
        yield Finding("values", "broken", "embeddings", what, len(mixed), examples[:EXAMPLES], mend)
