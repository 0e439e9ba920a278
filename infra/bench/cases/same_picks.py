"""The same picks whatever they were computed with."""

from __future__ import annotations

import dataclasses

from infra.bench.case import Case, Outcomes, Report, Target
from infra.bench.sizes import Sizes
from infra.bench.task import Task

_TILE = 384  # divides nothing evenly


def same_picks(sizes: Sizes) -> Case:
    """Hashes of the picked ids, for one and two threads, another order of rows, other tiles."""
    runs = {kind: _variants(Task(sizes.of(10_000), sizes.of(1_000), kind)) for kind in ("clustered", "duplicates")}

    def report(outcomes: Outcomes) -> Report:
        rows, targets = [], []
        for kind, variants in runs.items():
            digests = [outcomes[task].digest for task in variants.values()]
            rows += [(kind, name, outcomes[task].digest or "failed") for name, task in variants.items()]
            same = float(None not in digests and len(set(digests)) == 1)
            targets.append(Target(f"{kind}: all the same", 1.0, same, "yes/no", at_least=True))
        note = "duplicates: half of the rows are exact copies of others and a quarter nearly"
        return Report(("data", "run with", "hash of the picked ids, in order"), tuple(rows), tuple(targets), (note,))

    tasks = tuple(task for variants in runs.values() for task in variants.values())
    return Case("same-picks", f"exact facility location, n = {tasks[0].n:,}, k = {tasks[0].k:,}", tasks, report)


def _variants(usual: Task) -> dict[str, Task]:
    return {
        "1 thread": dataclasses.replace(usual, threads=1),
        "2 threads": dataclasses.replace(usual, threads=2),
        "rows in another order": dataclasses.replace(usual, threads=2, shuffled=True),
        f"tiles of {_TILE}": dataclasses.replace(usual, threads=2, tile=_TILE),
    }
