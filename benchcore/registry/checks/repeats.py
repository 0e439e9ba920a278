"""Which prompts repeat others, and how many of each file do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding
from benchcore.registry.checks.fingerprints import Fingerprints, hashes
from benchcore.registry.checks.snapshot import Snapshot

Place = tuple[str, str]  # source, path


@dataclass(frozen=True)
class Repeats:
    """Counts of prompts that are not retired.

    Attributes:
        kept: file -> prompts that stand for themselves, whether another benchmark shows the same or not.
        copies: file -> prompts that repeat one of their own benchmark.
    """

    kept: Counter[Place]
    copies: Counter[Place]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Repeats:
        """Count in two passes: which prompts are named as the original of another, then of what benchmark they are."""
        kept, copies = Counter[Place](), Counter[Place]()
        originals = _Originals.of(snapshot)
        columns = ("source", "path", "benchmark", "duplicate_of")
        for batch in snapshot.batches("prompts", columns, pc.field("retired_at").is_null()):
            inside = originals.benchmark_is(batch.column("duplicate_of"), batch.column("benchmark"))
            for counts, rows in ((kept, ~inside), (copies, inside)):
                places = batch.select(["source", "path"]).filter(pa.array(rows))
                counts.update(zip(places.column(0).to_pylist(), places.column(1).to_pylist(), strict=True))
        return cls(kept, copies)


@dataclass(frozen=True, eq=False)
class _Originals:
    """The prompts that others are said to repeat.

    Attributes:
        ids: of those that are there.
        benchmarks: (n,) hash of the benchmark of each, in the order of `ids`.
    """

    ids: Fingerprints
    benchmarks: NDArray[np.int64]

    @classmethod
    def of(cls, snapshot: Snapshot) -> _Originals:
        marked = snapshot.batches("prompts", ("duplicate_of",), pc.field("duplicate_of").is_valid())
        wanted = Fingerprints(np.unique(Fingerprints.of(marked, ("duplicate_of",)).sorted))
        benchmarks = np.zeros(len(wanted.sorted), np.int64)
        for batch in snapshot.batches("prompts", ("prompt_id", "benchmark")):
            places = wanted.places(hashes(batch, ("prompt_id",)))
            benchmarks[places[places >= 0]] = hashes(batch, ("benchmark",))[places >= 0]
        return cls(wanted, benchmarks)

    def benchmark_is(self, names: pa.Array, benchmarks: pa.Array) -> NDArray[np.bool_]:
        """(n,) whether the original of each prompt is of the prompt's own benchmark."""
        batch = pa.RecordBatch.from_arrays([names, benchmarks], names=["original", "benchmark"])
        places = self.ids.places(hashes(batch, ("original",)))
        found = places >= 0
        found[found] = self.benchmarks[places[found]] == hashes(batch, ("benchmark",))[found]
        return found


def lost_originals(snapshot: Snapshot) -> Iterator[Finding]:
    """Prompts that repeat one that there is not; of those that are not retired, also one that is."""
    columns, live = ("prompt_id", "duplicate_of", "retired_at"), pc.field("retired_at").is_null()
    current = Fingerprints.of(snapshot.batches("prompts", ("prompt_id",), live), ("prompt_id",))
    count, examples = 0, list[str]()
    for batch in snapshot.batches("prompts", columns, pc.field("duplicate_of").is_valid()):
        named, gone = hashes(batch, ("duplicate_of",)), np.asarray(batch.column("retired_at").is_valid())
        lost = ~np.where(gone, snapshot.prompts.has(named), current.has(named))
        count += int(lost.sum())
        examples += batch.column("prompt_id").filter(pa.array(lost)).slice(0, EXAMPLES).to_pylist()
    if count:
        what = "prompts repeat one (`duplicate_of`) that there is not, or that is retired"
        yield Finding("orphans", "broken", "prompts", what, count, tuple(examples[:EXAMPLES]), RESTORE)
